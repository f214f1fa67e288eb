/* Loaded before the program with `node --import`. Each SIGUSR2 advances the clock by five minutes. */

const stepMs = 300_000;
const RealDate = Date;
const realPerformanceNow = performance.now.bind(performance);
let movedMs = 0;

class MovedDate extends RealDate {
  constructor(...given: [] | [number]) {
    super(...(given.length === 0 ? ([MovedDate.now()] as const) : given));
  }

  static override now(): number {
    return RealDate.now() + movedMs;
  }
}

globalThis.Date = MovedDate as DateConstructor;
performance.now = () => realPerformanceNow() + movedMs;
process.on('SIGUSR2', () => {
  movedMs += stepMs;
  process.stderr.write('the clock was moved\n');
});
