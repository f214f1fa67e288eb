import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule } from 'vitest/node';
import { inRepository } from '../repository.ts';

/** What happened in one test file. */
export interface FileReport {
  /** Relative to the repository. */
  file: string;
  seconds: number;
  passed: number;
  skipped: number;
  /** The titles and errors of tests that failed, and errors outside of tests. */
  failures: string[];
}

/** The environment variable with the path of the report. */
export const reportPath = 'TEST_REPORT';

/** Writes what happened in each file as JSON: vitest's own JSON does not name the file of an unhandled error. */
export default class FileReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const reports = modules.map(describeModule);
    for (const error of unhandled) {
      const path: unknown = error['VITEST_TEST_PATH'];
      const file = typeof path === 'string' ? relative(inRepository(), path) : undefined;
      const report = reports.find((one) => one.file === file);
      const failure = `an error outside of the tests: ${summarize(error)}`;
      if (report) report.failures.push(failure);
      else reports.push({ file: file ?? '', seconds: 0, passed: 0, skipped: 0, failures: [failure] });
    }
    writeFileSync(process.env[reportPath] ?? 'test-report.json', JSON.stringify(reports));
  }
}

function describeModule(module: TestModule): FileReport {
  const tests = [...module.children.allTests()];
  const count = (state: string) => tests.filter((test) => test.result().state === state).length;
  const failures = tests.flatMap((test) => {
    const { state, errors = [] } = test.result();
    // A test is pending if its worker ended.
    return state === 'failed' || state === 'pending' ? [`${test.fullName}: ${errors.map(summarize)[0] ?? state}`] : [];
  });
  failures.push(...module.errors().map(summarize));
  if (!module.ok() && failures.length === 0) failures.push(`the file is ${module.state()}`);
  const seconds = module.diagnostic().duration / 1_000;
  return { file: module.relativeModuleId, seconds, passed: count('passed'), skipped: count('skipped'), failures };
}

function summarize({ message }: { message: string }): string {
  return message.split('\n', 1)[0] ?? '';
}
