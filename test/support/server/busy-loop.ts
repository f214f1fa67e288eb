/* Loaded before the program with `node --import`. Each SIGUSR2 blocks the event loop ten times for 100 ms. */

const holdMs = 100;

function hold(times: number): void {
  const until = performance.now() + holdMs;
  while (performance.now() < until);
  if (times > 1) setImmediate(hold, times - 1);
  else process.stderr.write('the event loop was held\n');
}

process.on('SIGUSR2', () => hold(10));
