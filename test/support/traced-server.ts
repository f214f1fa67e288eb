import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type DiskCall, readTrace, straceOf } from './disk-trace.ts';
import { launch, mainProgram, type PostroomProcess, type Settings, scratchFolder } from './postroom.ts';

export interface Trace {
  /** The folder of the database. */
  folder: string;
  calls: DiskCall[];
  /** The place where each post was acknowledged. */
  acknowledged: Map<string, number>;
}

/** Starts a server whose calls are recorded, and kills it when `work`, which gets the path of the database, is done. */
export async function traceServer(
  work: (postroom: PostroomProcess, database: string) => Promise<void>,
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
    await work(postroom, database);
  } finally {
    await postroom.kill();
  }
  await expect.poll(() => readFileSync(trace, 'latin1').trimEnd().endsWith('+++ killed by SIGKILL +++')).toBe(true);
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
