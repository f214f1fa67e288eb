import { sql } from 'kysely';
import { withinTime } from '../../common/within-time.ts';
import {
  type Database,
  type DatabaseState,
  DatabaseUnusable,
  type Db,
  type ImplementationOptions,
  type ReadContext,
  toUnusable,
  type Work,
} from '../database/database.ts';
import { createFaultReports, type FaultReports } from '../database/fault-reports.ts';
import { timed } from '../database/measured-database.ts';
import type { DatabaseTimings } from '../database/timings.ts';
import { assertKnown, type TableVersion } from '../migrations/migrate.ts';
import { assertRead, createDb, type StatementRunner } from '../sql/sql-dialect.ts';
import type { ReadQuery } from '../sql/statement.ts';
import { StatementNames } from './batch.ts';
import { CommitMarks } from './commit-marks.ts';
import { PostgresConnection, type PostgresConnectionOptions, type ServerFacts } from './connection.ts';
import { postgresDialect } from './dialect.ts';
import { isUnavailable, PostgresUnavailable } from './errors.ts';
import { type ConnectionPool, createConnections, type PostgresConnections, repeatLost } from './pools.ts';
import { PostgresSession } from './session.ts';
import { createSearchIndexes, migrateTables } from './tables.ts';
import { Transactions } from './transactions.ts';

const minVersion = 15;
const checkIntervalMs = 1_000;
const readyTimeoutMs = 2_000;

/**
 * Opens the database of a server, and brings its tables up to date. `address` is the URL without its scheme.
 *
 * Snapshots that last while a transaction runs (`snapshotDuringWrites`) have connections of their own: if they shared
 * them with transactions, each could wait for the other.
 * @throws DatabaseUnusable
 */
export async function openPostgres(url: string, options: ImplementationOptions): Promise<Database> {
  try {
    return await open(url, options);
  } catch (error) {
    throw toUnusable(withoutSecrets(url), error);
  }
}

async function open(url: string, options: ImplementationOptions): Promise<Database> {
  const reports = createFaultReports(options);
  const names = new StatementNames();
  let isOpen = false;
  const onError = (error: unknown) => {
    if (isOpen && isUnavailable(error, 'lost', 'fault')) reports.reportFault(error.reason);
  };
  const connectionOptions = { url, names, onStatement: options.onStatement, onError };
  const reason = await prepare(connectionOptions, options.extensions);
  if (reason !== undefined) options.onMissingIndexes?.(reason);
  // A pooler may refuse this one: it has limits, and the same names of statements.
  const first = await PostgresConnection.open(connectionOptions);
  let version = toVersion(first.facts);
  first.destroy();
  const connect = async () => {
    const connection = await connectToPrimary(connectionOptions);
    version = toVersion(connection.facts);
    return connection;
  };
  const connections = createConnections(connect);
  const transactions = new Transactions(connections.transactions, new CommitMarks(connect));
  const checks = createDb(connections.checks, postgresDialect);
  const readsFor = createReads(connections, options.timings);
  isOpen = true;
  const recoveryChecks = startRecoveryChecks(reports, transactions);
  return {
    db: readsFor({ caller: '' }),
    checks,
    readsFor,
    kind: 'postgres',
    readVersion: () => version,
    countWaiting: () => ({ transactions: transactions.waitingCount, longReads: connections.longReads.waitingCount }),
    name: withoutSecrets(url),
    folder: undefined,
    transaction: (work, options) => transactions.run(work, options),
    snapshot: (work, context) => readSnapshot(connections.snapshots, work, context),
    snapshotDuringWrites: (work, context) => readSnapshot(connections.snapshotsDuringWrites, work, context),
    purge: async () => {},
    isReady: () => isPrimary(checks),
    async close() {
      clearInterval(recoveryChecks);
      await Promise.all(Object.values(connections).map((group) => group.close()));
    },
  };
}

/** A caller has one long read running. Its short reads, and those of others, do not wait for it. */
function createReads({ reads, longReads }: PostgresConnections, timings: DatabaseTimings) {
  return (context: ReadContext) => {
    const readInTurn = (query: ReadQuery) =>
      repeatLost(() => longReads.run((connection) => connection.executeQuery(query), context));
    const runner: StatementRunner = {
      executeQuery(query: ReadQuery) {
        assertRead(query.sql);
        if (query.isLong) return timed(timings.long_read, () => readInTurn(query) as never);
        return timed(timings.read, () => reads.executeQuery(query) as never);
      },
    };
    return createDb(runner, postgresDialect);
  };
}

/** After a fault, writes once a second until a write succeeds, which is reported as the recovery. */
function startRecoveryChecks(reports: FaultReports, transactions: Transactions): NodeJS.Timeout {
  return setInterval(() => {
    if (!reports.isRecoveryDue) return;
    // Also an empty transaction writes: its commit mark.
    transactions
      .run(async () => {})
      .then(
        () => reports.reportRecovery(),
        () => {},
      );
  }, checkIntervalMs).unref();
}

/** Whether the server answers in time, and can be written. */
async function isPrimary(checks: Db): Promise<boolean> {
  const answer = sql<{ isPrimary: boolean }>`
    select not (pg_is_in_recovery() or current_setting('transaction_read_only')::bool) as "isPrimary"`.execute(checks);
  const isPrimary = answer.then(({ rows }) => rows[0]?.isPrimary === true);
  return withinTime(readyTimeoutMs, isPrimary, () => false).catch(() => false);
}

/**
 * Checks the server and migrates its tables, on a connection of their own. Returns the reason why an index for searches is
 * missing. @throws DatabaseUnusable
 */
async function prepare(
  options: PostgresConnectionOptions,
  extensions: ImplementationOptions['extensions'],
): Promise<string | undefined> {
  const connection = await PostgresConnection.open({ ...options, isUnlimited: true });
  try {
    assertSupported(connection.facts);
    await migrateTables(connection, extensions);
    await CommitMarks.deleteOld(connection);
    return await createSearchIndexes(connection);
  } finally {
    connection.destroy();
  }
}

/** Finds out whether a node could open the database, without migrating it. @throws DatabaseUnusable */
export async function inspectPostgres(url: string): Promise<DatabaseState> {
  try {
    return { name: withoutSecrets(url), folder: undefined, version: await readVersion(url) };
  } catch (error) {
    throw toUnusable(withoutSecrets(url), error);
  }
}

async function readVersion(url: string): Promise<number | undefined> {
  const connection = await PostgresConnection.open({ url, names: new StatementNames(), onError: () => {} });
  try {
    assertSupported(connection.facts);
    const db = createDb(connection, postgresDialect);
    const found = await sql<{
      isPresent: boolean;
    }>`select to_regclass('migrations') is not null as "isPresent"`.execute(db);
    if (!found.rows[0]?.isPresent) return undefined;
    const { rows } = await sql<TableVersion>`select * from migrations`.execute(db);
    if (rows[0]) assertKnown(rows[0]);
    return rows[0]?.seen;
  } finally {
    connection.destroy();
  }
}

/** @throws DatabaseUnusable */
function assertSupported({ version, encoding, isReadOnly }: ServerFacts): void {
  if (version < minVersion * 10_000) {
    throw new DatabaseUnusable(
      `its version is ${Math.floor(version / 10_000)}; Postroom needs PostgreSQL ${minVersion} or later`,
    );
  }
  if (encoding !== 'UTF8') throw new DatabaseUnusable(`its encoding is ${encoding}; Postroom needs UTF8`);
  if (isReadOnly) throw new DatabaseUnusable(readOnly);
}

function toVersion({ version }: ServerFacts): string {
  return `${Math.floor(version / 10_000)}.${version % 10_000}`;
}

const readOnly = 'it can only be read (a standby server, or default_transaction_read_only)';

/** Never reads from a standby, where rooms and events may be missing. @throws PostgresUnavailable */
async function connectToPrimary(options: PostgresConnectionOptions): Promise<PostgresConnection> {
  const connection = await PostgresConnection.open(options);
  if (!connection.facts.isReadOnly) return connection;
  connection.destroy();
  const error = new PostgresUnavailable('fault', readOnly);
  options.onError(error);
  throw error;
}

function readSnapshot<T>(pool: ConnectionPool, work: Work<T>, context: ReadContext | undefined): Promise<T> {
  return new Promise((resolve, reject) => {
    const read = async (connection: PostgresConnection) => {
      const session = new PostgresSession(connection);
      try {
        session.sendUnawaited('begin isolation level repeatable read read only');
        const db = createDb(session, postgresDialect);
        // The server takes the snapshot at the first read.
        await sql`select 1 from settings limit 1`.execute(db);
        // The result does not wait for the end.
        resolve(await work(db));
      } finally {
        await session.end('commit');
      }
    };
    pool.run(read, context).catch(reject);
  });
}

/** Parameters may contain a password, too. */
function withoutSecrets(url: string): string {
  const parsed = URL.parse(url.replace(/\/\/[^/]*@/, '//'));
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname}` : 'postgres:';
}
