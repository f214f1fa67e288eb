import { setFlagsFromString } from 'node:v8';

/** Sets how V8 collects, beside what it must be told at its start (see the first line of main.ts). */
export function tuneCollector(): void {
  // Where V8 saw most objects of one place in the code outlive a collection, it makes all that come of it among the old
  // ones from then on. Under load that happens to whatever the requests of one moment hold, and is never taken back: what
  // died as young as ever kept half of each request until the next full collection, for a third of the throughput.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // A heap that grows slowly V8 collects whenever a sixth is added, which is 6 MB of a small one: so much 500 connections
  // leave when they close. Each time it takes turns of up to 15 ms, and threads that others could use for 30 to 70. It may
  // double instead. (The triggers of incremental marking would take less memory for it; but soon past them V8 stops
  // everything for 30 ms and more.)
  setFlagsFromString('--heap-growing-percent=100');
}
