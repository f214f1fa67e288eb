import { readFileSync } from 'node:fs';

/*
 * Before the program (node --import): only its wall clock is moved, by the milliseconds that stand in the file which
 * WALL_CLOCK names. It is read at the start, and again at each SIGUSR2.
 */

const RealDate = Date;
const file = process.env['WALL_CLOCK'] ?? '';
let movedMs = Number(readFileSync(file, 'utf8'));

class MovedDate extends RealDate {
  constructor(...given: [] | [number]) {
    super(...(given.length === 0 ? ([MovedDate.now()] as const) : given));
  }

  static override now(): number {
    return RealDate.now() + movedMs;
  }
}

globalThis.Date = MovedDate as DateConstructor;
process.on('SIGUSR2', () => {
  movedMs = Number(readFileSync(file, 'utf8'));
  process.stderr.write('the clock was moved\n');
});
