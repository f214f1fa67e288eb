import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { main, nodeOptions } from '../support/program.ts';

const reportUsage = new URL('./report-usage-at-exit.ts', import.meta.url).href;

/** Real chat history: the file that CHAT_HISTORY names, or a file next to the repository. */
export const historyFile =
  process.env['CHAT_HISTORY'] ?? fileURLToPath(new URL('../../../shared/data/ubuntu-irc.ndjson.gz', import.meta.url));

/** A folder for a database. It is removed when the process exits. */
export function createTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The settings of a server whose database is in this folder. */
export function databaseSettings(folder: string): Record<string, string> {
  return { PORT: '0', DATABASE_URL: `sqlite:${folder}/postroom.db` };
}

interface ImportFigures {
  seconds: number;
  cpuSeconds: number;
  peakMegabytes: number;
  /** The lines of the summary, for example `posts: 196,123 added, 0 already present`. */
  summary: string[];
  records: number;
}

/** Runs `postroom import` on the history. */
export async function importHistory(folder: string): Promise<ImportFigures> {
  if (!existsSync(historyFile))
    throw new Error(`The chat history ${historyFile} does not exist. Set CHAT_HISTORY to the path of the file.`);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, '--import', reportUsage, main, 'import', historyFile], {
    env: { PATH: process.env['PATH'], ...databaseSettings(folder) },
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const [, stdout, , report] = child.stdio;
  if (!stdout || !report || !('read' in report)) throw new Error('The import has no output.');
  const [output, usage, [status]] = await Promise.all([text(stdout), text(report), once(child, 'close')]);
  if (status !== 0) throw new Error(`The import exited with status ${status}.`);
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(usage) as NodeJS.ResourceUsage;
  const [total = '', ...summary] = output.trim().split('\n');
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMegabytes: (maxRSS * 1_024) / 1e6,
    summary,
    records: Number((/^[\d,]+/.exec(total)?.[0] ?? '').replaceAll(',', '')),
  };
}
