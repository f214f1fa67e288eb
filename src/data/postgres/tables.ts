import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { DatabaseUnavailable } from '../database/database.ts';
import { migrate } from '../migrations/migrate.ts';
import type { MigrationOwner } from '../migrations/migration.ts';
import { createDb } from '../sql/sql-dialect.ts';
import type { PostgresConnection } from './connection.ts';
import { postgresDialect, postgresTables } from './dialect.ts';
import { isUnavailable } from './errors.ts';
import { PostgresSession } from './session.ts';

/** Any number that no other program uses in the same database. */
const lockId = 7_061_626_120_268_001;

/**
 * All statements of running nodes wait behind a migration that waits for a table, for example until a backup has ended. So
 * it gives up soon, and tries again.
 */
const lockTimeoutMs = 1_000;
const retryMs = 1_000;
const maxAttempts = 30;

/** Brings the tables up to date. Only one program at a time does so. @throws DatabaseUnusable, PostgresUnavailable */
export async function migrateTables(
  connection: PostgresConnection,
  extensions: readonly MigrationOwner[] | undefined,
  attempts = maxAttempts,
): Promise<void> {
  try {
    await runAlone(connection, (session) => migrate(createDb(session, postgresDialect), postgresTables, extensions));
  } catch (error) {
    if (attempts === 1 || !isUnavailable(error, 'busy', 'conflict')) throw error;
    await wait(retryMs);
    await migrateTables(connection, extensions, attempts - 1);
  }
}

/** Runs a transaction that changes tables. Only one program at a time does so. */
async function runAlone<T>(connection: PostgresConnection, work: (session: PostgresSession) => Promise<T>): Promise<T> {
  const session = new PostgresSession(connection);
  try {
    await session.send('begin');
    await session.send(`select pg_advisory_xact_lock(${lockId})`);
    await session.send(`set local lock_timeout = ${lockTimeoutMs}`);
    const result = await work(session);
    const failure = await session.end('commit');
    if (failure) throw failure.error;
    return result;
  } catch (error) {
    await session.end('rollback');
    throw error;
  }
}

/** The tables and columns that are searched for a part of a text. */
const searchIndexes = [
  { name: 'postsByTitle', table: 'posts', column: 'title' },
  { name: 'usersByPartOfName', table: 'users', column: 'name' },
  { name: 'roomsByPartOfName', table: 'rooms', column: 'name' },
] as const;

/**
 * Creates the indexes for `contains` while their tables are empty; elsewhere a search reads every row. An index of a table
 * with rows would hold up the writes of running nodes, so that an administrator creates it. Existing indexes are not touched,
 * because even `if not exists` locks the table. Returns the reason why an index is missing.
 */
export async function createSearchIndexes(connection: PostgresConnection): Promise<string | undefined> {
  try {
    const late = await runAlone(connection, createMissingIndexes);
    return late.length > 0 ? `the tables of ${late.join(', ')} have rows` : undefined;
  } catch (error) {
    return error instanceof DatabaseUnavailable ? error.reason : String(error);
  }
}

/** Returns the names of the indexes whose tables have rows. */
async function createMissingIndexes(session: PostgresSession): Promise<string[]> {
  const { rows: existing } = await sql<{ name: string }>`
    select indexname as name from pg_indexes where schemaname = current_schema()`.execute(
    createDb(session, postgresDialect),
  );
  const missing = searchIndexes.filter((index) => !existing.some(({ name }) => name === index.name));
  if (missing.length > 0) await session.send('create extension if not exists pg_trgm');
  const late: string[] = [];
  for (const { name, table, column } of missing) {
    const { rows } = await session.send(`select 1 from ${table} limit 1`);
    if (rows.length > 0) late.push(name);
    else await session.send(`create index "${name}" on ${table} using gin (lower("${column}") gin_trgm_ops)`);
  }
  return late;
}
