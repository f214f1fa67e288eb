import { readFileSync } from 'node:fs';

/*
 * Before the program (node --import): only its wall clock is moved, by the milliseconds that the file named by WALL_CLOCK
 * contains; with an `=` before them they are the time itself, and it stands still. The file is read at the start, and again at
 * each SIGUSR2.
 */

const RealDate = Date;
const file = process.env['WALL_CLOCK'] ?? '';
let setting = readFileSync(file, 'utf8');

class MovedDate extends RealDate {
  constructor(...given: [] | [number]) {
    super(...(given.length === 0 ? ([MovedDate.now()] as const) : given));
  }

  static override now(): number {
    return setting.startsWith('=') ? Number(setting.slice(1)) : RealDate.now() + Number(setting);
  }
}

globalThis.Date = MovedDate as DateConstructor;
process.on('SIGUSR2', () => {
  setting = readFileSync(file, 'utf8');
  process.stderr.write('the clock was moved\n');
});
