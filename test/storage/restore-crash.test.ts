import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hasStrace } from '../support/database/disk-trace.ts';
import {
  copyStates,
  newTitles,
  oldTitles,
  readTitles,
  settingsOf,
  shareTwoStates,
} from '../support/rooms/two-states.ts';
import { isSoak } from '../support/run/soak.ts';
import { main, programEnvironment } from '../support/server/postroom.ts';

const calls = ['rename', 'unlink', ...(isSoak ? ['fsync,fdatasync', 'ftruncate', 'pwrite64'] : [])];

const states = await shareTwoStates();

/** Restores, and kills the process when it begins the n-th of these system calls. Returns whether it was killed. */
async function restoreKilledAt(folder: string, call: string, count: number): Promise<boolean> {
  const kill = `inject=${call}:signal=SIGKILL:when=${count}`;
  const command = [process.execPath, main, 'restore', join(folder, 'backup'), '--force'];
  const child = spawn('strace', ['-D', '-f', '-o', '/dev/null', '-e', `trace=${call}`, '-e', kill, ...command], {
    env: { ...programEnvironment, ...settingsOf(folder) },
    stdio: 'ignore',
  });
  const [status, signal] = await once(child, 'close');
  expect([status, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']);
  return signal !== null;
}

it.skipIf(!hasStrace).each(calls)(
  'a restore that is killed at any %s leaves the whole old database, with its write-ahead log, or the whole backup (strace)',
  { timeout: 300_000 },
  async (call) => {
    const found: string[] = [];
    for (let count = 1; ; count += Math.ceil(count / 4)) {
      const folder = copyStates(states);
      const wasKilled = await restoreKilledAt(folder, call, count);
      const titles = await readTitles(folder, states);
      found.push(titles.join());
      expect([newTitles.join(), oldTitles.join()], `killed at call ${count}`).toContain(titles.join());
      if (!wasKilled) break;
    }
    // It was killed at least once before it had finished, and finished at last.
    expect(found).toContain(newTitles.join());
    expect(found.at(-1)).toBe(oldTitles.join());
  },
);
