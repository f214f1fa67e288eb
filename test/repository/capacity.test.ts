import { expect, it, test } from 'vitest';
import { readCosts } from '../../bench/capacity/costs.ts';
import { runNode } from '../../scripts/repository.ts';

const run = (...args: string[]) => runNode(['scripts/capacity.ts', ...args]);
/** Many more mutations than deliveries, so that the database is the limit. */
const load = ['--subscribers', '1000', '--rooms', '1000', '--events-per-second', '5000'];

it('npm run capacity prints what a load needs, and what limits it first', async () => {
  const [postgres, sqlite, small] = await Promise.all([
    run(...load, '--bus', 'redis', '--database-cores', '1'),
    run(...load, '--database', 'sqlite', '--node-cores', '256'),
    run('--subscribers', '1000', '--rooms', '100', '--events-per-second', '10'),
  ]);
  expect(postgres.stdout).toMatch(
    /^Limit: PostgreSQL\. It is reached at 0\.\d+ of this load: the load does not fit\.$/m,
  );
  expect(sqlite.stdout).toMatch(/^Limit: the lock of the database\. It is reached at 0\.\d+ of this load/m);
  expect(small.stdout).toMatch(/^Limit: [A-Za-z ,]+\. It is reached first, at [\d.,]+ times this load\.$/m);
  for (const name of ['nodes', 'cores', 'memory', 'deliveries', 'bus messages', 'heads compared'])
    expect(small.stdout).toMatch(new RegExp(`^${name} .*\\d`, 'm'));
  expect([postgres.status, sqlite.status, small.status]).toEqual([0, 0, 0]);
});

test.each([
  { wrong: ['--subscriber', '5'], message: "Unknown option '--subscriber'" },
  { wrong: ['--rooms', 'ten'], message: '--rooms must be a number of 1 or more (got "ten").' },
  { wrong: ['--rooms', ''], message: '--rooms must be a number of 1 or more (got "").' },
  { wrong: ['--rooms', '1001'], message: '--rooms must not be greater than --subscribers' },
  { wrong: ['--presence', '2'], message: '--presence must be a number of 0 to 1 (got "2").' },
  { wrong: ['--database', 'mysql'], message: '--database must be postgres or sqlite (got "mysql").' },
])('npm run capacity refuses $wrong', async ({ wrong, message }) => {
  const { status, stdout, stderr } = await run(...load, ...wrong);
  expect(stderr).toContain(`capacity: ${message}`);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});

it('npm run capacity names an option that is missing', async () => {
  const { status, stderr } = await run('--rooms', '5', '--subscribers', '10');
  expect({ status, stderr }).toEqual({ status: 1, stderr: 'capacity: --events-per-second is missing.\n' });
});

it('each cost names the benchmark that measured it, and the date', () => {
  const costs = Object.entries(readCosts());
  expect(costs.length).toBeGreaterThan(0);
  for (const [name, { value, command, date }] of costs) {
    expect(value, name).toBeGreaterThanOrEqual(0);
    expect(command, name).toMatch(/^npm run bench -- (capacity|many-nodes) [a-z]+$/);
    expect(date, name).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  }
});
