/* Loaded before the program with `node --expose-gc --import`: SIGUSR2 logs the bytes on the heap, the first time after a collection. */

let isFirst = true;

process.on('SIGUSR2', () => {
  if (isFirst) globalThis.gc?.();
  isFirst = false;
  process.stderr.write(`${JSON.stringify({ msg: 'heap', bytes: process.memoryUsage().heapUsed })}\n`);
});
