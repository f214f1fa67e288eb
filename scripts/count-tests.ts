import { readFile } from 'node:fs/promises';

interface Report {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/** Sums up JSON reports of vitest in one line: `12 passed, 0 failed, 3 skipped`. */
export function countTests(...reports: readonly Report[]): string {
  const results = reports.flatMap(({ testResults }) => testResults);
  const statuses = results.flatMap(({ status, assertionResults }) => {
    const tests = assertionResults.map((test) => test.status);
    // A file that breaks outside of its tests reports none of them as failed.
    return status === 'failed' && !tests.includes('failed') ? [...tests, 'failed'] : tests;
  });
  const passed = statuses.filter((status) => status === 'passed').length;
  const failed = statuses.filter((status) => status === 'failed').length;
  return `${passed} passed, ${failed} failed, ${statuses.length - passed - failed} skipped`;
}

if (import.meta.main) {
  const reports = process.argv.slice(2).map(async (file) => JSON.parse(await readFile(file, 'utf8')));
  console.log(countTests(...(await Promise.all(reports))));
}
