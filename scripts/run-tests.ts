import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inRepository } from './repository.ts';
import { type FileReport, reportPath } from './run-tests/reporter.ts';
import { hasFailed, type RanFile, summarize } from './run-tests/summary.ts';

/*
 * node scripts/run-tests.ts [FILE …]
 *
 * Runs the tests as .ci/run does: `npm test`, `npm run test:postgres`, and a part of `npm run test:soak` that begins with
 * another file each day. A file that fails runs once more, alone; if it passes then, it is reported as unstable. With
 * files, only these run, on SQLite. The exit status is 1 if a file fails twice.
 */

/** No further file of the long tests begins after this time. */
const soakMs = 20_000;
const dayMs = 86_400_000;
const longestCount = 20;

const folder = mkdtempSync(join(tmpdir(), 'postroom-tests-'));
const rows: string[] = [];

try {
  const chosen = process.argv.slice(2);
  const all = await runPart('npm test', 'vitest.config.ts', chosen);
  if (chosen.length === 0) {
    all.push(...(await runPart('npm run test:postgres', 'vitest.postgres.config.ts')));
    all.push(...(await measure('npm run test:soak, a part', runSoakPart)));
  }
  const longest = all.map(({ first }) => first).sort((one, other) => other.seconds - one.seconds);
  console.log(`\nThe files that take longest:`);
  for (const { file, seconds } of longest.slice(0, longestCount))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`);
  console.log(['', ...rows, '', ...summarize(all)].join('\n'));
  if (all.some(hasFailed)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true });
}

function runPart(name: string, config: string, files: string[] = []): Promise<RanFile[]> {
  return measure(name, async () => {
    const ran: RanFile[] = [];
    for (const first of await runVitest(config, files)) {
      ran.push(first.failures.length > 0 ? { first, again: await runAlone(config, first) } : { first });
    }
    return ran;
  });
}

async function runSoakPart(): Promise<RanFile[]> {
  const config = 'vitest.soak.config.ts';
  const files = globSync('test/soak/*/*.test.ts', { cwd: inRepository() }).sort();
  const start = (Math.floor(Date.now() / dayMs) * 7) % files.length;
  const startedAt = performance.now();
  const ran: RanFile[] = [];
  for (const file of [...files.slice(start), ...files.slice(0, start)]) {
    if (performance.now() - startedAt > soakMs) break;
    ran.push(...(await runPart(file, config, [file])));
  }
  return ran;
}

async function measure(name: string, work: () => Promise<RanFile[]>): Promise<RanFile[]> {
  const startedAt = performance.now();
  const ran = await work();
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  rows.push(`${String(seconds).padStart(5)} s  ${name}: ${summarize(ran).at(-1)}`);
  return ran;
}

/** An error outside of all files cannot be repeated. */
async function runAlone(config: string, { file, seconds }: FileReport): Promise<FileReport> {
  if (file === '') return { file, seconds, passed: 0, skipped: 0, failures: ['an error outside of all files'] };
  console.log(`\n${file} has failed, and runs once more, alone.`);
  const [again] = await runVitest(config, [file]);
  return again ?? { file, seconds, passed: 0, skipped: 0, failures: ['it did not run'] };
}

/** Without a report, vitest itself has failed. */
async function runVitest(config: string, files: string[]): Promise<FileReport[]> {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const vitest = inRepository('node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', `--reporter=${inRepository('scripts/run-tests/reporter.ts')}`];
  const child = spawn(process.execPath, [vitest, 'run', '--config', config, ...reporters, ...files], {
    cwd: inRepository(),
    env: { ...process.env, [reportPath]: report },
    stdio: 'inherit',
  });
  const [status] = await once(child, 'close');
  if (existsSync(report)) return JSON.parse(readFileSync(report, 'utf8'));
  return [{ file: files[0] ?? '', seconds: 0, passed: 0, skipped: 0, failures: [`vitest ended with ${status}`] }];
}
