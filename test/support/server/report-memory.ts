/*
 * Loaded into the server with `--import` and `--expose-gc`. Each SIGUSR2 collects garbage and logs the memory in use.
 */
import { setTimeout as wait } from 'node:timers/promises';

const rounds = 4;

async function report(): Promise<void> {
  // Objects that finalizers and weak references release are collected in the next round.
  for (let round = 0; round < rounds; round += 1) {
    globalThis.gc?.();
    await wait(50);
  }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.stderr.write(`${JSON.stringify({ msg: 'memory', rss, retained: heapUsed + external })}\n`);
}

process.on('SIGUSR2', () => void report());
