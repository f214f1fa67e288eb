import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { inRepository } from '../../../scripts/repository.ts';

/** Runs `npm run simulate` with these arguments, and returns its lines. @throws an Error with its errors if it fails. */
async function simulate(...args: string[]): Promise<string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [inRepository('simulation/main.ts'), ...args]);
  return stdout.split('\n').filter((line) => !line.includes(' per second.'));
}

describe('the simulator', () => {
  it('repeats a run by its seed, to the last event', async () => {
    const [first, second] = await Promise.all([1, 2].map(() => simulate('--seed', '7', '--story')));
    expect(first?.join()).toMatch(/client \d+ receives PostCreated/);
    expect(second).toEqual(first);
  });

  it('finds a defect that was put into a copy of the source', async () => {
    const found = await simulate('--mutants', 'heads are not compared', '--seeds', '20');
    expect(found[0]).toMatch(/^seed \d+: client \d+ of \w+ \(\w+\): .* room \w+/);
  });

  it('finds a defect of the events of extensions', async () => {
    const name = 'a subscription of an extension leaves out one of its types';
    const [found] = await simulate('--mutants', name, '--seeds', '60');
    expect(found).toMatch(/^seed \d+: client \d+ of \w+ \(tasks\): /);
  });

  it('refuses a fault that it does not know', async () => {
    await expect(simulate('--only', 'rain')).rejects.toThrow('--only rain: there is no such fault');
  });
});
