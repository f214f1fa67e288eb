import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { Script } from 'node:vm';
import { workerData } from 'node:worker_threads';
import { runCommands } from './command-worker.ts';

/* Runs long reads in a thread of its own. */

export interface ReaderWorkerData {
  url: string;
  /** Its first element is 1 while the running read must stop. */
  stop: Int32Array;
}

export interface ReadCommand {
  sql: string;
  parameters: readonly SQLInputValue[];
}

export interface ReadResult {
  columns: { name: string }[];
  rows: unknown[][];
}

const { url, stop } = workerData as ReaderWorkerData;
// Each thread has a heap of its own: see `tuneCollector`.
setInterval(() => new Script(''), 30_000).unref();

runCommands(open, read);

function read(database: DatabaseSync, { sql, parameters }: ReadCommand): ReadResult {
  const statement = database.prepare(sql);
  statement.setReturnArrays(true);
  const rows = statement.all(...parameters) as unknown as unknown[][];
  return { columns: statement.columns().map(({ name }) => ({ name })), rows };
}

function open(): DatabaseSync {
  const opened = new DatabaseSync(url, { timeout: 5_000 });
  opened.exec('pragma query_only = on; pragma cache_size = -4000; pragma temp_store = memory');
  // A running statement can be interrupted only by a function that it calls.
  opened.function('may_read', (_work) => {
    if (Atomics.load(stop, 0) === 1) throw new Error('the read was cancelled');
    return 1;
  });
  return opened;
}
