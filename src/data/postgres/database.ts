import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { BadSetting } from '../../bad-setting.ts';
import {
  type Database,
  DatabaseUnavailable,
  DatabaseUnusable,
  type ImplementationOptions,
  type Work,
} from '../database.ts';
import { FaultReports } from '../fault-reports.ts';
import { TimedConnection } from '../timed-database.ts';
import { CommitMarks } from './commit-marks.ts';
import { type ConnectionOptions, PostgresConnection, type ServerFacts } from './connection.ts';
import { toDb, toTransaction } from './dialect.ts';
import { PostgresUnavailable } from './errors.ts';
import { ConnectionPool } from './pool.ts';
import { Session } from './session.ts';
import { SharedConnections } from './shared-connections.ts';
import { StatementNames } from './statement-names.ts';
import { migrateTables } from './tables.ts';
import { Transactions } from './transactions.ts';

/**
 * The maximum numbers of connections. With two of the bus a node has 20, so that the server's default limit of 100 allows
 * four nodes, a rolling restart and an administrator. More connections do not make a server faster.
 */
const sizes = { reads: 3, checks: 1, transactions: 8, snapshots: 3, snapshotsDuringWrites: 3 };
const minVersion = 15;
/** The part of an error message that says which URLs are allowed. */
export const postgresUrlForm = 'postgres://user:password@host/database';
/**
 * The user, password and host, then a database: without one the server would choose that with the name of the user.
 */
const urlParts = /^postgres:\/\/[^/?#]*\/[^/?#@]+(\?|$)/;
const checkIntervalMs = 1_000;
const readyTimeoutMs = 2_000;

/**
 * Opens the database of a server, and brings its tables up to date. `address` is the URL without its scheme.
 *
 * Snapshots that are kept while a transaction runs have connections of their own: if they shared them with transactions,
 * each could wait for the other.
 * @throws BadSetting, DatabaseUnusable
 */
export async function openPostgres(address: string, options: ImplementationOptions): Promise<Database> {
  const url = toUrl(address);
  try {
    return await open(url, options);
  } catch (error) {
    throw explain(url, error);
  }
}

/** The URL of an address without its scheme. @throws BadSetting */
export function toUrl(address: string): string {
  const url = `postgres:${address}`;
  if (isComplete(url)) return url;
  const rule = `must be ${postgresUrlForm}; special characters of the password must be percent-encoded`;
  throw new BadSetting('DATABASE_URL', url, rule);
}

/** The host may be missing: then it is a parameter, the folder of a socket. */
function isComplete(url: string): boolean {
  return urlParts.test(url) && URL.canParse(url.replace('@/', '@host/'));
}

async function open(url: string, options: ImplementationOptions): Promise<Database> {
  const reports = new FaultReports(options);
  const names = new StatementNames();
  let isOpen = false;
  const onError = (error: unknown) => {
    if (isOpen && isFault(error)) reports.reportFault(error.reason);
  };
  const connectionOptions = { url, names, onStatement: options.onStatement, onError };
  await prepare(connectionOptions);
  // A pooler may refuse this one: it has limits, and the same names of statements.
  const first = await PostgresConnection.open(connectionOptions);
  let version = toVersion(first.facts);
  first.destroy();
  const connect = async () => {
    const connection = await connectToPrimary(connectionOptions);
    version = toVersion(connection.facts);
    return connection;
  };
  const reads = new SharedConnections(sizes.reads, connect);
  const checkReads = new SharedConnections(sizes.checks, connect);
  const writers = new ConnectionPool(sizes.transactions, connect);
  const snapshots = new ConnectionPool(sizes.snapshots, connect);
  const kept = new ConnectionPool(sizes.snapshotsDuringWrites, connect);
  const transactions = new Transactions(writers, new CommitMarks(connect));
  const checks = toDb(checkReads);
  const db = toDb(new TimedConnection(reads, options.timings.read));
  isOpen = true;
  const probing = setInterval(() => {
    // Every transaction writes its mark.
    if (!reports.isRecoveryDue) return;
    transactions
      .run(async () => {})
      .then(
        () => reports.reportRecovery(),
        () => {},
      );
  }, checkIntervalMs).unref();
  return {
    db,
    checks,
    readsFor: () => db,
    kind: 'postgres',
    readVersion: () => version,
    countWaiting: () => ({ transactions: transactions.waitingCount, longReads: 0 }),
    name: withoutSecrets(url),
    folder: undefined,
    transaction: (work, options) => transactions.run(work, options),
    snapshot: (work) => readSnapshot(snapshots, work),
    snapshotDuringWrites: (work) => readSnapshot(kept, work),
    purge: async () => {},
    async isReady() {
      const answer = sql<{ isReady: boolean }>`
        select not (pg_is_in_recovery() or current_setting('transaction_read_only')::bool) as "isReady"`.execute(
        checks,
      );
      const late = wait(readyTimeoutMs, undefined, { ref: false });
      return Promise.race([answer, late]).then(
        (result) => result?.rows[0]?.isReady ?? false,
        () => false,
      );
    },
    async close() {
      clearInterval(probing);
      await Promise.all([reads, checkReads, writers, snapshots, kept].map((connections) => connections.close()));
    },
  };
}

/** Checks the server and migrates its tables, on a connection of their own. @throws DatabaseUnusable */
async function prepare(options: ConnectionOptions): Promise<void> {
  const connection = await PostgresConnection.open({ ...options, isUnlimited: true });
  try {
    assertSupported(connection.facts);
    await migrateTables(connection);
    await CommitMarks.deleteOld(connection);
  } finally {
    connection.destroy();
  }
}

/** @throws DatabaseUnusable */
export function assertSupported({ version, encoding, isReadOnly }: ServerFacts): void {
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
async function connectToPrimary(options: ConnectionOptions): Promise<PostgresConnection> {
  const connection = await PostgresConnection.open(options);
  if (!connection.facts.isReadOnly) return connection;
  connection.destroy();
  const error = new PostgresUnavailable('fault', readOnly);
  options.onError(error);
  throw error;
}

async function readSnapshot<T>(pool: ConnectionPool, work: Work<T>): Promise<T> {
  const connection = await pool.acquire();
  const session = new Session(connection);
  try {
    session.sendUnawaited('begin isolation level repeatable read read only');
    const db = toTransaction(session);
    // The server takes the snapshot at the first read.
    await sql`select 1 from settings limit 1`.execute(db);
    return await work(db);
  } finally {
    // Nobody waits for the answer.
    void session.end('commit').then(() => pool.release(connection));
  }
}

function isFault(error: unknown): error is PostgresUnavailable {
  return error instanceof PostgresUnavailable && (error.kind === 'lost' || error.kind === 'fault');
}

/** An error of the server or of the connection becomes a line for the operator, without the password. */
export function explain(url: string, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (!(error instanceof DatabaseUnusable || error instanceof DatabaseUnavailable || 'code' in error)) return error;
  const reason = error instanceof DatabaseUnavailable ? error.reason : error.message;
  return new DatabaseUnusable(`${withoutSecrets(url)}: ${reason}`, { cause: error });
}

/** Parameters may contain a password, too. */
export function withoutSecrets(url: string): string {
  const parsed = URL.parse(url.replace(/\/\/[^/]*@/, '//'));
  return parsed ? `${parsed.protocol}//${parsed.host}${parsed.pathname}` : 'postgres:';
}
