import { readFile } from 'node:fs/promises';

interface Report {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

/** Sums a JSON report of vitest up in one line: `12 passed, 0 failed, 3 skipped`. */
export function countTests({ testResults }: Report): string {
  const statuses = testResults.flatMap(({ status, assertionResults }) => {
    const tests = assertionResults.map((test) => test.status);
    // A file that breaks outside of its tests reports none of them as failed.
    return status === 'failed' && !tests.includes('failed') ? [...tests, 'failed'] : tests;
  });
  const passed = statuses.filter((status) => status === 'passed').length;
  const failed = statuses.filter((status) => status === 'failed').length;
  return `${passed} passed, ${failed} failed, ${statuses.length - passed - failed} skipped`;
}

if (import.meta.main) console.log(countTests(JSON.parse(await readFile(process.argv[2] ?? '', 'utf8'))));
