/* Loaded into every measured server before its program. Reports the usage of the process over IPC. */

import { createHook } from 'node:async_hooks';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';

export type UsageQuestion = 'usage' | 'usage after gc' | 'blocks';

export interface Usage {
  /** User and system time of all threads, in microseconds. */
  cpuMicros: number;
  rssBytes: number;
  /** V8's heap and the external memory of its objects. */
  heapBytes: number;
  /** Only V8's heap. */
  heapUsedBytes: number;
  /** With COUNT_RESOURCES, the number of asynchronous resources that were made, by their type in async_hooks. */
  resources: Record<string, number>;
  /** The longest block of the event loop between this question and the one before it, if both are `blocks`. */
  longestBlockMs: number;
}

const settleMs = 5;
const resources: Record<string, number> = {};

if (process.env['COUNT_RESOURCES']) {
  const init = (_id: number, type: string) => {
    resources[type] = (resources[type] ?? 0) + 1;
  };
  createHook({ init }).enable();
}

let delays: ReturnType<typeof monitorEventLoopDelay> | undefined;

function takeLongestBlock(): number {
  const longestMs = (delays?.max ?? 0) / 1e6;
  delays ??= monitorEventLoopDelay({ resolution: 1 });
  delays.enable();
  delays.reset();
  return longestMs;
}

process.on('message', async (question: UsageQuestion) => {
  // A buffer is freed one collection after the collection that found it unused.
  if (question === 'usage after gc') for (let pass = 0; pass < 4; pass += 1) globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed, external } = process.memoryUsage();
  // A block is recorded by the first timer after it.
  if (question === 'blocks') await wait(settleMs);
  const longestBlockMs = question === 'blocks' ? takeLongestBlock() : 0;
  const usage: Usage = {
    cpuMicros: user + system,
    rssBytes: rss,
    heapBytes: heapUsed + external,
    heapUsedBytes: heapUsed,
    resources,
    longestBlockMs,
  };
  process.send?.(usage);
});
// The server must not outlive the benchmark.
process.once('disconnect', () => process.exit());
process.channel?.unref();
