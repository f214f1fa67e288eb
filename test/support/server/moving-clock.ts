import { replaceDate } from '../../../scripts/replace-date.ts';

/* Loaded before the program with `node --import`. Each SIGUSR2 advances the clock by five minutes. */

const stepMs = 300_000;
const realNow = Date.now;
const realPerformanceNow = performance.now.bind(performance);
let movedMs = 0;

replaceDate(() => realNow() + movedMs);
performance.now = () => realPerformanceNow() + movedMs;
process.on('SIGUSR2', () => {
  movedMs += stepMs;
  process.stderr.write('the clock was moved\n');
});
