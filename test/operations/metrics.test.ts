import { expect, it } from 'vitest';
import { readMetrics } from '../support/engine/metrics.ts';
import { launchProcessForTest, mainProgram } from '../support/server/postroom.ts';

const preload = new URL('../support/server/busy-loop.ts', import.meta.url).pathname;

it('a read of /metrics does not reset values for the next reader: both see that the event loop was blocked', async () => {
  const postroom = await launchProcessForTest({}, ['--import', preload, ...mainProgram]);
  postroom.process.kill('SIGUSR2');
  await expect.poll(() => postroom.log).toContainEqual({ msg: 'the event loop was held' });
  const lags = [];
  for (let reader = 0; reader < 3; reader += 1)
    lags.push((await readMetrics(postroom))['nodejs_eventloop_lag_p99_seconds']);
  for (const lag of lags) expect(lag).toBeGreaterThan(0.05);
});
