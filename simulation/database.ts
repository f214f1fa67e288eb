import { pathToFileURL } from 'node:url';
import { type CompiledQuery, type QueryResult, sql } from 'kysely';
import {
  CommitOutcomeUnknown,
  type Database,
  DatabaseUnavailable,
  type ReadContext,
} from '../src/data/database/database.ts';
import { createDb, type StatementRunner } from '../src/data/sql/sql-dialect.ts';
import { SqliteConnection } from '../src/data/sqlite/connection.ts';
import { createSnapshots } from '../src/data/sqlite/database.ts';
import { sqliteDialect } from '../src/data/sqlite/dialect.ts';
import { SqliteWriter } from '../src/data/sqlite/writer.ts';
import type { Disk } from './disk.ts';
import type { Faults } from './faults.ts';
import type { Scheduler } from './scheduler.ts';

const maxSnapshots = 3;
/** Some transactions wait for a multiple of it. */
const commonMs = 25;
const maxGatherMs = 1;

interface DatabaseParts {
  disk: Disk;
  scheduler: Scheduler;
  faults: Faults;
  /** Called right after each commit. */
  onCommit: () => void;
}

/** The connection that writes: its statements and commits can fail. */
class FailingConnection extends SqliteConnection {
  readonly #faults: Faults;

  constructor(url: string, faults: Faults) {
    super(url, { mode: 'write', onError: () => {} });
    this.#faults = faults;
  }

  override execute(...[text, parameters]: Parameters<SqliteConnection['execute']>): QueryResult<unknown> {
    if (text === 'commit' && this.#faults.happens('commitFails'))
      throw new DatabaseUnavailable('simulated: the commit failed');
    if (/^(select|insert|update|delete|with)/.test(text) && this.#faults.happens('writeFails'))
      throw new DatabaseUnavailable('simulated: the statement failed');
    return super.execute(text, parameters);
  }
}

/**
 * The database of one node: the real statements, locks, groups of transactions and snapshots on a real SQLite file, which
 * all nodes share. Only the time that each takes, and what fails, is the world's.
 */
export function openSimulatedDatabase({ disk, scheduler, faults, onCommit }: DatabaseParts) {
  const url = `${pathToFileURL(disk.path)}?mode=rw`;
  const { random } = scheduler;
  const connect = (mode: 'read' | 'write') => new SqliteConnection(url, { mode, onError: () => {} });
  const connections = [new FailingConnection(url, faults), connect('read')] as const;
  const [writing, reading] = connections;
  let isClosed = false;
  const travel = () => scheduler.delay(random.between(0.05, 2));

  /** A read happens at one moment of the time that it takes. */
  async function read<T>(work: () => T, context?: ReadContext): Promise<T> {
    const reads = (async () => {
      await travel();
      if (faults.happens('readFails')) throw new DatabaseUnavailable('simulated: the read failed');
      const slowMs = faults.happens('readIsSlow') ? random.between(5, 150) : 0;
      const stallMs = faults.happens('readStalls') ? random.between(500, 15_000) : slowMs;
      // Its answer may be old when it arrives.
      const isAnswerLate = stallMs > 0 && random.chance(0.5);
      if (stallMs > 0 && !isAnswerLate) await scheduler.delay(stallMs);
      if (isClosed) throw new DatabaseUnavailable('simulated: the database was closed');
      const result = work();
      if (isAnswerLate) await scheduler.delay(stallMs);
      await travel();
      return result;
    })();
    return context?.cancellation ? context.cancellation.race(reads) : reads;
  }

  const runnerOf = (connection: SqliteConnection, context?: ReadContext): StatementRunner => ({
    executeQuery: <Row>({ sql: text, parameters }: CompiledQuery) =>
      read(() => connection.execute(text, parameters as never) as QueryResult<Row>, context),
  });
  const snapshots = () => {
    const slow = Array.from({ length: maxSnapshots }, () => {
      const connection = connect('read');
      opened.push(connection);
      return {
        ...runnerOf(connection),
        execute: (text: string) => connection.execute(text),
        rollback: () => connection.rollback(),
      };
    });
    return createSnapshots(slow as never, { pause: undefined });
  };
  const opened: SqliteConnection[] = [...connections];
  const log = {
    hasSpace: true,
    checkpointIfDue: () => {},
    truncate: async () => true,
    flush: {
      // Transactions that arrive meanwhile join the group.
      waitFor: () => scheduler.delay(random.between(0, maxGatherMs)),
      async run() {
        onCommit();
        const end = disk.flush();
        const takesMs = faults.happens('flushStalls') ? random.between(200, 6_000) : random.between(0.1, 5);
        disk.busyUntil = Math.max(disk.busyUntil, scheduler.now + takesMs);
        await scheduler.delay(disk.busyUntil - scheduler.now);
        end();
      },
    },
  };
  const health = { assertWritable: () => {}, assertInPlace: () => {}, noteFailure: () => {}, noteWrite: () => {} };
  const writer = new SqliteWriter({ connection: writing, health, log } as never);
  const checks = createDb(runnerOf(reading), sqliteDialect);
  const database: Database = {
    db: checks,
    checks,
    readsFor: (context) => createDb(runnerOf(reading, context), sqliteDialect),
    async transaction(work, options) {
      // Transactions that arrive at the same moment share a commit.
      await (random.chance(0.5) ? scheduler.delay(commonMs - (scheduler.now % commonMs)) : travel());
      const result = await writer.transaction(work, options);
      if (faults.happens('commitUnknown')) throw new CommitOutcomeUnknown('simulated: the answer was lost');
      return result;
    },
    snapshot: snapshots(),
    snapshotDuringWrites: snapshots(),
    purge: async () => {},
    isReady: async () =>
      sql`select 1 from settings limit 1`.execute(checks).then(
        () => true,
        () => false,
      ),
    folder: undefined,
    kind: 'sqlite',
    readVersion: () => 'simulated',
    countWaiting: () => ({ transactions: writer.waitingCount, longReads: 0 }),
    name: 'simulated',
    close: async () => {
      await writer.close();
      isClosed = true;
      for (const connection of opened) connection.close();
    },
  };
  /** As the end of the process does: a transaction that has not been committed is rolled back. */
  const crash = () => {
    for (const connection of opened) connection.close();
  };
  return { database, crash };
}
