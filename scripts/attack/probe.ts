import { readFileSync } from 'node:fs';

/* Loaded into a server before its program (node --import): measures the process from inside, and reports over IPC. */

export type ProbeQuestion = { probe: 'begin' | 'report' };

export interface ProbeReport {
  /**
   * The longest time that the event loop was blocked since `begin`, in milliseconds, without the time in which the process
   * was ready to run and other processes had the processors.
   */
  blockMs: number;
  /** What JavaScript holds after garbage collection, in its heap and in buffers. */
  heldBytes: number;
}

const intervalMs = 5;
let latest = readProgress();
let blockMs = 0;

function measure(): void {
  const now = readProgress();
  blockMs = Math.max(blockMs, now - latest - intervalMs);
  latest = now;
}

/** Milliseconds that have passed but for those in which the main thread waited for a processor (proc(5), schedstat). */
function readProgress(): number {
  const [, waitedNs = '0'] = readFileSync('/proc/self/schedstat', 'latin1').split(' ');
  return performance.now() - Number(waitedNs) / 1e6;
}

function readHeldBytes(): number {
  // A buffer is only freed by the collection after the one that found it unused.
  for (let pass = 0; pass < 3; pass += 1) globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + Math.max(external, arrayBuffers);
}

setInterval(measure, intervalMs).unref();

process.on('message', (question: ProbeQuestion) => {
  if (!('probe' in question)) return;
  measure();
  const report: ProbeReport = { blockMs, heldBytes: readHeldBytes() };
  if (question.probe === 'begin') blockMs = 0;
  // The collection is the probe's own doing.
  latest = readProgress();
  process.send?.(report);
});
// A server must not outlive its attacker.
process.once('disconnect', () => process.exit());
process.channel?.unref();
