import { expect, test } from 'vitest';
import { countTests } from '../scripts/count-tests.ts';

test('tests that passed, failed and did not run are counted, and a file that broke counts as one that failed', () => {
  const assertionResults = ['passed', 'passed', 'failed', 'skipped', 'todo', 'pending'].map((status) => ({ status }));
  const testResults = [
    { status: 'failed', assertionResults },
    { status: 'failed', assertionResults: [] },
    { status: 'failed', assertionResults: [{ status: 'passed' }] },
  ];
  expect(countTests({ testResults })).toBe('3 passed, 3 failed, 3 skipped');
});
