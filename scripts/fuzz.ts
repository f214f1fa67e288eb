import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type FuzzOptions, fuzzHttp, fuzzWebSocket } from '../test/support/fuzz/run.ts';
import {
  createTarget,
  faultLinesOf,
  fuzzSettings,
  residentBytes,
  type Tally,
  type Target,
} from '../test/support/fuzz/target.ts';
import { launch } from '../test/support/server/postroom.ts';

/* npm run fuzz -- [--seed N] [--runs N] sends N requests over HTTP and N messages over WebSocket. */

const { values } = parseArgs({ options: { seed: { type: 'string' }, runs: { type: 'string', default: '100000' } } });
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31));
const runs = Number(values.runs);
const megabyte = 1024 * 1024;

async function runOne(name: string, fuzz: typeof fuzzHttp, target: Target): Promise<Tally> {
  const memory: [number, number][] = [];
  const recordMemory = (done: number) => memory.push([done, Math.round(residentBytes(postroom) / megabyte)]);
  const options: FuzzOptions = { seed, runs, onProgress: recordMemory };
  const startedAt = performance.now();
  recordMemory(0);
  const tally = await fuzz(target, options);
  recordMemory(runs);
  console.log(
    `\n${name}: ${runs} in ${Math.round((performance.now() - startedAt) / 1_000)} s, ${tally.faultCount} faults`,
  );
  const points = [0, 0.1, 0.25, 0.5, 0.75, 1].map((part) => memory[Math.round(part * (memory.length - 1))]);
  console.log(`  resident memory: ${points.map((point) => point && `${point[1]} MB at ${point[0]}`).join(', ')}`);
  for (const [what, count] of [...tally.counts].sort(([one], [other]) => one.localeCompare(other))) {
    console.log(`  ${String(count).padStart(8)}  ${what}`);
  }
  for (const fault of tally.faults) console.log(`  fault: ${fault}`);
  return tally;
}

console.log(`seed ${seed}`);
const folder = mkdtempSync(join(tmpdir(), 'postroom-fuzz-'));
const postroom = await launch({ ...fuzzSettings, DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` });
try {
  const target = await createTarget(postroom);
  const tallies = [await runOne('HTTP', fuzzHttp, target), await runOne('WebSocket', fuzzWebSocket, target)];
  const status = await postroom.stop();
  const lines = faultLinesOf(postroom);
  console.log(`\nthe server exited with status ${status}; its log has ${lines.length} warnings and errors`);
  for (const line of lines.slice(0, 10)) console.log(`  ${JSON.stringify(line)}`);
  const isClean = status === 0 && lines.length === 0 && tallies.every(({ faultCount }) => faultCount === 0);
  process.exitCode = isClean ? 0 : 1;
} finally {
  await postroom.stop();
  rmSync(folder, { recursive: true, force: true });
}
