import { replaceDate } from '../replace-date.ts';

/* Preloaded into a server with node --import. Moves the wall clock on an IPC message; the monotonic clock is unchanged. */

export interface ClockMove {
  /** The offset from the true time in milliseconds. It replaces the previous offset. */
  clockOffsetMs: number;
}

const realNow = Date.now;
let offsetMs = 0;

replaceDate(() => realNow() + offsetMs);

process.on('message', (move: ClockMove) => {
  if (!('clockOffsetMs' in move)) return;
  offsetMs = move.clockOffsetMs;
  process.send?.(move);
});
