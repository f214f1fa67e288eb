/* Preloaded into a server with node --import. Moves the wall clock on an IPC message; the monotonic clock is unchanged. */

export interface ClockMove {
  /** The offset from the true time in milliseconds. It replaces the previous offset. */
  clockOffsetMs: number;
}

const RealDate = Date;
let offsetMs = 0;

class MovableDate extends RealDate {
  constructor(...given: [] | [number]) {
    super(...(given.length === 0 ? ([MovableDate.now()] as const) : given));
  }

  static override now(): number {
    return RealDate.now() + offsetMs;
  }
}

globalThis.Date = MovableDate as DateConstructor;

process.on('message', (move: ClockMove) => {
  if (!('clockOffsetMs' in move)) return;
  offsetMs = move.clockOffsetMs;
  process.send?.(move);
});
