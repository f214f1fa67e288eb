/* Loaded into a server before its program (node --import): moves its wall clock, and no other, as told over IPC. */

export interface ClockMove {
  /** How far from the true time, in milliseconds; it replaces the move before. */
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
