import { expect, test } from 'vitest';
import type { FileReport } from '../../scripts/run-tests/reporter.ts';
import { summarize } from '../../scripts/run-tests/summary.ts';

const report = (file: string, passed: number, failures: string[] = []): FileReport => {
  return { file, seconds: 1, passed, skipped: 1, failures };
};

test('a file that passes when it runs alone is unstable, and one that fails twice has failed', () => {
  const failing = report('c.test.ts', 1, ['c: no']);
  expect(
    summarize([
      { first: report('a.test.ts', 2) },
      { first: report('b.test.ts', 1, ['b: seed 7']), again: report('b.test.ts', 2) },
      { first: failing, again: failing },
    ]),
  ).toEqual([
    'failed: c.test.ts > c: no',
    'unstable: b.test.ts > b: seed 7',
    '5 passed, 1 failed, 3 skipped, 1 unstable',
  ]);
});
