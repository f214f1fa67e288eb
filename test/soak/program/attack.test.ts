import { expect, it } from 'vitest';
import type { Attack } from '../../../scripts/attack/attack.ts';
import { runAttack } from '../../../scripts/attack/run.ts';
import { until } from '../../../scripts/attack/waiting.ts';

/* Tests `runAttack`, which `npm run attack` uses. Each test starts servers and measures them for several seconds. */

function attackOf(run: Attack['run']): Attack {
  return { name: 'test', promise: 'It is a test.', run };
}

it('an attack whose server dies is broken, and does not wait for its answers', async () => {
  const { findings } = await runAttack(
    attackOf(async (arena) => {
      const server = await arena.start();
      server.process.kill('SIGKILL');
      return new Promise<never>(() => {});
    }),
  );
  expect(findings.faults).toEqual([expect.stringMatching(/^the server died \(SIGKILL\)/)]);
});

it('an attack that blocks the event loop is broken, and one that does nothing is not', async () => {
  const pausing = async (pauseMs: number) => {
    const { findings } = await runAttack(
      attackOf(async (arena) => {
        const server = await arena.start();
        const pause = async () => {
          if (pauseMs === 0) return;
          server.process.kill('SIGSTOP');
          const end = performance.now() + pauseMs;
          await until(pauseMs * 2, () => performance.now() > end);
          server.process.kill('SIGCONT');
        };
        await arena.measure(server, pause, { hasNeighbour: false });
      }),
    );
    return findings.faults;
  };
  expect(await pausing(0)).toEqual([]);
  expect(await pausing(600)).toEqual([expect.stringMatching(/^the event loop was blocked for \d+ ms$/)]);
});
