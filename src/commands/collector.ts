import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

/**
 * Sets those options of V8's garbage collector that can be set at run time (see the first line of main.ts for the
 * others).
 */
export function tuneCollector(): void {
  // V8 allocates objects in the old generation if most earlier objects of the same place in the code survived a
  // collection. Under load this happens to the objects of the requests that run at one moment, and V8 never reverts it.
  // Objects that still died young then held half of each request's memory until the next full collection, which cost a
  // third of the throughput.
  setFlagsFromString('--no-allocation-site-pretenuring');
  // By default V8 collects a slowly growing heap each time it has grown by a sixth. For a small heap this is 6 MB,
  // which 500 connections leave when they close. Each collection takes pauses of up to 15 ms, and 30 to 70 ms of
  // threads that others could use. With this option the heap may double instead.
  setFlagsFromString('--heap-growing-percent=100');
  // V8 returns the freed pages of its heap when it knows that few objects are allocated. It treats a rate of 0 C++ objects
  // as unknown: a server, which creates none, kept 150 MB after a flood of large answers. A script is a C++ object.
  setInterval(() => new Script(''), 30_000).unref();
}
