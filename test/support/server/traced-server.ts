import { closeSync, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type DiskCall, readTrace, straceOf } from '../database/disk-trace.ts';
import { launch, mainProgram, type PostroomProcess, type Settings, scratchFolder } from './postroom.ts';

export interface Trace {
  /** The folder of the database. */
  folder: string;
  calls: DiskCall[];
  /** The place where each post was acknowledged. */
  acknowledged: Map<string, number>;
}

interface TracedFiles {
  database: string;
  /** The calls so far. */
  trace: string;
}

/** Starts a server whose calls are recorded, and kills it when `work` is done. */
export async function traceServer(
  work: (postroom: PostroomProcess, files: TracedFiles) => Promise<void>,
  { faults = [], settings = {} }: { faults?: string[]; settings?: Settings } = {},
): Promise<Trace> {
  const scratch = scratchFolder();
  const folder = join(scratch, 'data');
  const database = join(folder, 'postroom.db');
  const trace = join(scratch, 'trace');
  mkdirSync(folder);
  const program = straceOf(trace, [process.execPath, ...mainProgram], faults);
  const postroom = await launch({ ...settings, DATABASE_URL: `sqlite:${database}` }, program, 'strace');
  try {
    await work(postroom, { database, trace });
  } finally {
    if (postroom.process.signalCode === null) await postroom.kill();
  }
  await expect.poll(() => readEnd(trace)).toContain('+++ killed by SIGKILL +++\n');
  const calls = await readTrace(trace);
  return { folder, calls, acknowledged: findAcknowledged(calls) };
}

function findAcknowledged(calls: readonly DiskCall[]): Map<string, number> {
  const places = new Map<string, number>();
  for (const call of calls) {
    if (call.type !== 'send') continue;
    for (const [, id = ''] of call.text.matchAll(/"createPost":\{"post":\{"id":"(\w+)"/g)) places.set(id, call.end);
  }
  return places;
}

/** The end of a file that may be longer than a string. */
function readEnd(path: string): string {
  const bytes = Buffer.alloc(100);
  const file = openSync(path, 'r');
  try {
    const length = readSync(file, bytes, 0, bytes.length, Math.max(0, statSync(path).size - bytes.length));
    return bytes.toString('latin1', 0, length);
  } finally {
    closeSync(file);
  }
}
