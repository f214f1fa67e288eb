import { readFileSync } from 'node:fs';

/*
 * Loaded before the program with `node --import`. Moves only the wall clock. The file named by WALL_CLOCK contains the
 * offset in milliseconds, or an `=` and a fixed time in milliseconds since 1970. The file is read at the start and at
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
