import { Worker } from 'node:worker_threads';

/** Checks without a step after which a run counts as one that does not end. */
const maxChecks = 12;
const checkMs = 5_000;

/** The seed that runs, and the number of steps of this process. */
const progress = new Int32Array(new SharedArrayBuffer(8));

/** A step whose microtasks never end lets nothing else run in its thread, so this is the code of another one. */
const watch = `
const { writeSync } = require('node:fs');
const { progress } = require('node:worker_threads').workerData;
let [steps, checks] = [-1, 0];
setInterval(() => {
  checks = progress[1] === steps ? checks + 1 : 0;
  steps = progress[1];
  if (checks < ${maxChecks}) return;
  writeSync(1, 'Defect with seed ' + progress[0] + ', found in step ' + steps + ' of the process: the step does not end\\n');
  process.kill(process.pid, 'SIGKILL');
}, ${checkMs});
`;

/** Ends the process, and prints the seed, if a step does not end. */
export function startWatchdog(): void {
  new Worker(watch, { eval: true, workerData: { progress } }).unref();
}

export function noteSeed(seed: number): void {
  progress[0] = seed;
}

export function noteStep(): void {
  progress[1] = (progress[1] ?? 0) + 1;
}
