import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { launchForTest, type Postroom, type Settings } from './postroom.ts';

/*
 * Time of servers in the process of the test that passes only when the test says so, however long the test takes. The
 * timers of Node's own modules and of `expect.poll` continue.
 */

const names = ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const;

interface VirtualTimers {
  /** Whether the clocks are stopped, too: `Date` and `performance.now()`. */
  withClock?: boolean;
  /** Whether the timers of `node:timers/promises` are stopped, too: a transaction then waits for a lock until time passes. */
  withPromises?: boolean;
}

/** The value of `performance.now()` while it is stopped. */
let now = 0;

/** Stops the timers of the program and of its packages for one test. `launch` starts the servers. */
export async function withVirtualTimers<T>(
  launch: () => Promise<T>,
  { withClock = false, withPromises = false }: VirtualTimers = {},
): Promise<T> {
  vi.useFakeTimers({ toFake: withClock ? [...names, 'Date'] : [...names] });
  // Otherwise each repetition of `expect.poll` would let time pass.
  const isFake = vi.spyOn(vi, 'isFakeTimers').mockReturnValue(false);
  const restoreClock = withClock ? replaceClock() : () => {};
  const restorePromises = withPromises ? replacePromises() : () => {};
  try {
    return await launch();
  } finally {
    // Hooks run in reverse order: this one before those that stop the servers.
    onTestFinished(() => {
      isFake.mockRestore();
      vi.useRealTimers();
      restoreClock();
      restorePromises();
    });
  }
}

/** Starts a server whose timers and clocks the test advances. */
export function launchWithVirtualClock(settings: Settings = {}): Promise<Postroom> {
  return withVirtualTimers(() => launchForTest(settings), { withClock: true });
}

/** Lets a time pass. */
export function advanceTime(ms: number): void {
  now += ms;
  vi.advanceTimersByTime(ms);
}

/** Lets time pass, not faster than real time, so that other processes have the time to answer. */
export function pollWhileTimePasses<Value>(read: () => Value) {
  const stepMs = 50;
  const advanceAndRead = () => {
    advanceTime(stepMs);
    return read();
  };
  return expect.poll(advanceAndRead, { interval: stepMs });
}

function replaceClock(): () => void {
  now = performance.now();
  const replaced = vi.spyOn(performance, 'now').mockImplementation(() => now);
  return () => replaced.mockRestore();
}

function replacePromises(): () => void {
  const wait = (ms?: number, value?: unknown) => new Promise((resolve) => setTimeout(resolve, ms, value));
  const replaced = vi.spyOn(timers, 'setTimeout').mockImplementation(wait as typeof timers.setTimeout);
  syncBuiltinESMExports();
  return () => {
    replaced.mockRestore();
    syncBuiltinESMExports();
  };
}
