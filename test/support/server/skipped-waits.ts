import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { replaceDate } from '../../../scripts/replace-date.ts';

/*
 * Loaded before the program with `node --import`. A wait of a minute or more is written to standard error, and ends at a
 * SIGUSR2: the clock is then as if the time had passed.
 */

const minuteMs = 60_000;
const realNow = Date.now;
const wait = timers.setTimeout;
let skippedMs = 0;

async function waitOrSkip<T>(ms = 0, value?: T): Promise<T | undefined> {
  if (ms < minuteMs) return wait(ms, value);
  const { promise, resolve } = Promise.withResolvers<void>();
  // A listener does not keep the process running.
  const running = setInterval(() => {}, minuteMs);
  process.once('SIGUSR2', resolve);
  process.stderr.write(`${JSON.stringify({ msg: 'waiting', ms })}\n`);
  await promise;
  clearInterval(running);
  skippedMs += ms;
  return value;
}

replaceDate(() => realNow() + skippedMs);
timers.setTimeout = waitOrSkip as typeof timers.setTimeout;
syncBuiltinESMExports();
