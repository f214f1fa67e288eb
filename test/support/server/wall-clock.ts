import { readFileSync } from 'node:fs';
import { replaceDate } from '../../../scripts/replace-date.ts';

/*
 * Loaded before the program with `node --import`. Moves only the wall clock. The file named by WALL_CLOCK contains the
 * offset in milliseconds, or an `=` and a fixed time in milliseconds since 1970. The file is read at the start and at
 * each SIGUSR2.
 */

const realNow = Date.now;
const file = process.env['WALL_CLOCK'] ?? '';
let setting = readFileSync(file, 'utf8');

replaceDate(() => (setting.startsWith('=') ? Number(setting.slice(1)) : realNow() + Number(setting)));
process.on('SIGUSR2', () => {
  setting = readFileSync(file, 'utf8');
  process.stderr.write('the clock was moved\n');
});
