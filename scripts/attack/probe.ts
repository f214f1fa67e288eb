import { readFileSync } from 'node:fs';

/* Preloaded into a server with node --import. Measures the process from inside and reports over IPC. */

export type ProbeQuestion = { probe: 'begin' | 'report' };

export interface ProbeReport {
  /**
   * The longest block of the event loop since `begin`, in milliseconds. It excludes the time in which the process was
   * runnable but waited for a processor.
   */
  blockMs: number;
  /** The size of the JavaScript heap and of buffers after garbage collection. */
  retainedBytes: number;
}

const intervalMs = 5;
let latest = readProgress();
let blockMs = 0;

function measure(): void {
  const now = readProgress();
  blockMs = Math.max(blockMs, now - latest - intervalMs);
  latest = now;
}

/** Elapsed milliseconds without the time in which the main thread waited for a processor (proc(5), schedstat). */
function readProgress(): number {
  const [, waitedNs = '0'] = readFileSync('/proc/self/schedstat', 'latin1').split(' ');
  return performance.now() - Number(waitedNs) / 1e6;
}

function readRetainedBytes(): number {
  // A buffer is freed one collection after the collection that found it unused.
  for (let pass = 0; pass < 3; pass += 1) globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

setInterval(measure, intervalMs).unref();

process.on('message', (question: ProbeQuestion) => {
  if (!('probe' in question)) return;
  measure();
  const report: ProbeReport = { blockMs, retainedBytes: readRetainedBytes() };
  if (question.probe === 'begin') blockMs = 0;
  // The garbage collection above must not count as a block of the server.
  latest = readProgress();
  process.send?.(report);
});
// A server must not outlive its attacker.
process.once('disconnect', () => process.exit());
process.channel?.unref();
