/* Before the program (node --import): at each SIGUSR2 it holds the event loop ten times, a tenth of a second each. */

const holdMs = 100;

function hold(times: number): void {
  const until = performance.now() + holdMs;
  while (performance.now() < until);
  if (times > 1) setImmediate(hold, times - 1);
  else process.stderr.write('the event loop was held\n');
}

process.on('SIGUSR2', () => hold(10));
