/*
 * Loaded into the server by `--import`, with `--expose-gc`: on SIGUSR2 it collects garbage and logs what is left.
 */
import { setTimeout as wait } from 'node:timers/promises';

const rounds = 4;

async function report(): Promise<void> {
  // What finalizers and weak references let go is collected in the next round.
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.();
    await wait(50);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stderr.write(`${JSON.stringify({ msg: 'memory', rss, retained: heapUsed + external })}\n`);
}

process.on('SIGUSR2', () => void report());
