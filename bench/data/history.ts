import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { main, nodeOptions } from '../program.ts';

const peak = new URL('./peak.ts', import.meta.url).href;

/** Real chat history, by CHAT_HISTORY or beside the repository. */
const file =
  process.env['CHAT_HISTORY'] ?? fileURLToPath(new URL('../../../shared/data/ubuntu-irc.ndjson.gz', import.meta.url));

/** A folder for a database, gone at the end of the process. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** What a database of this folder is called in the settings. */
export function settingsOf(folder: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', DATABASE_URL: `sqlite:${folder}/postroom.db` };
}

export interface ImportFigures {
  seconds: number;
  cpuSeconds: number;
  peakMegabytes: number;
  /** The summary's rows: `posts: 196,123 added, 0 known already`. */
  summary: string[];
  records: number;
}

/** Runs `postroom import` on the history. */
export async function importHistory(folder: string): Promise<ImportFigures> {
  if (!existsSync(file)) throw new Error(`there is no ${file}: set CHAT_HISTORY`);
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, '--import', peak, main, 'import', file], {
    env: settingsOf(folder),
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  const [, stdout, , report] = child.stdio;
  if (!stdout || !report || !('read' in report)) throw new Error('the import has no output');
  const [said, usage, [status]] = await Promise.all([text(stdout), text(report), once(child, 'close')]);
  if (status !== 0) throw new Error(`the import ended with ${status}`);
  const { maxRSS, userCPUTime, systemCPUTime } = JSON.parse(usage) as NodeJS.ResourceUsage;
  const [total = '', ...summary] = said.trim().split('\n');
  return {
    seconds: (performance.now() - startedAt) / 1_000,
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakMegabytes: (maxRSS * 1_024) / 1e6,
    summary,
    records: Number((/^[\d,]+/.exec(total)?.[0] ?? '').replaceAll(',', '')),
  };
}
