import { parseArgs } from 'node:util';
import { type Finding, fuzz } from '../test/support/fuzz/run.ts';
import { launch } from '../test/support/server/postroom.ts';

/*
 * npm run fuzz -- [--seed N] [--seconds N] [--runs N] [--only NAME]
 *
 * NAME selects cases, such as http, websocket, import, 'websocket ping' or 'http POST query SSE'.
 */

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    seconds: { type: 'string' },
    runs: { type: 'string' },
    only: { type: 'string', default: '' },
  },
});
const { seed, only, seconds = 'Infinity', runs = values.seconds === undefined ? '100000' : 'Infinity' } = values;
const maxShownLength = 4_000;

function reportFault({ what, cases, seconds }: Pick<Finding, 'what' | 'cases' | 'seconds'>): void {
  console.log(`\nFAULT: ${what}`);
  console.log(`  found after ${cases} cases and ${seconds.toFixed(1)} s with the seed ${seed}`);
}

function reportInput({ shortest, attempts, shortenedSeconds }: Finding): void {
  const repeated = `${attempts} attempts, after ${shortenedSeconds.toFixed(1)} s`;
  if (!shortest) return console.log(`  no single case causes it on a fresh server (${repeated})`);
  console.log(`  ${shortest.name}, the shortest input (${repeated}):`);
  for (const { kind, text } of shortest.steps) {
    const shown = kind === 'text' || kind === 'line' ? text : JSON.stringify(text);
    console.log(`    ${kind} ${shown}`.slice(0, maxShownLength));
  }
}

console.log(`seed ${seed}`);
const limits = { runs: Number(runs), seconds: Number(seconds) };
const result = await fuzz({
  seed: Number(seed),
  only,
  ...limits,
  launch,
  onFault: reportFault,
  onFinding: reportInput,
});
console.log(`\n${result.cases} cases in ${Math.round(result.seconds)} s, ${result.findings.length} faults`);
const megabytes = [0, 0.1, 0.25, 0.5, 0.75, 1].map((part) => {
  const bytes = result.memory[Math.round(part * (result.memory.length - 1))] ?? 0;
  return `${Math.round(bytes / 1024 / 1024)} MB`;
});
console.log(`resident memory after 0, 10, 25, 50, 75 and 100% of them: ${megabytes.join(', ')}`);
for (const [what, count] of [...result.counts].sort(([one], [other]) => one.localeCompare(other)))
  console.log(`${String(count).padStart(8)}  ${what}`);
// On a busy machine an answer may be late once. What the server itself reports is a fault also if it cannot be repeated.
const isCertain = ({ shortest, what }: Finding) => shortest !== undefined || what.startsWith('the server');
process.exitCode = result.findings.some(isCertain) ? 1 : 0;
