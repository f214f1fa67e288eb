import { setTimeout as wait } from 'node:timers/promises';
import { sql } from 'kysely';
import { migrate } from '../migrations/migrate.ts';
import type { TableDialect } from '../migrations/migration.ts';
import type { PostgresConnection } from './connection.ts';
import { toTransaction } from './dialect.ts';
import { PostgresUnavailable } from './errors.ts';
import { Session } from './session.ts';

const dialect: TableDialect = {
  text: 'text collate "C"',
  bigint: 'bigint',
  tableOptions: '',
  // Room for the next version of each row on its page: its indexes then need no entry for the new version.
  roomOptions: 'with (fillfactor = 70)',
  ownTables: [
    `create table "commitMarks" ("id" text primary key, "mark" bigint not null, "at" bigint not null) with (fillfactor = 50)`,
  ],
  randomMark: 'floor(random() * 2147483647)::integer + 1',
};

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
export async function migrateTables(connection: PostgresConnection): Promise<void> {
  for (let attempt = 1; !(await tryToMigrate(connection, attempt === maxAttempts)); attempt += 1) await wait(retryMs);
  await createSearchIndexes(connection);
}

/** Returns false if a table is locked. `isLast`: throws the reason instead. */
async function tryToMigrate(connection: PostgresConnection, isLast: boolean): Promise<boolean> {
  const session = new Session(connection);
  try {
    await session.send('begin');
    await session.send(`select pg_advisory_xact_lock(${lockId})`);
    await session.send(`set local lock_timeout = ${lockTimeoutMs}`);
    const db = toTransaction(session);
    await migrate(db, dialect);
    const failure = await session.end('commit');
    if (failure) throw failure.error;
    return true;
  } catch (error) {
    await session.end('rollback');
    if (isLast || !isLocked(error)) throw error;
    return false;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof PostgresUnavailable && (error.kind === 'busy' || error.kind === 'conflict');
}

const searchIndexes = {
  postsByTitle: 'create index if not exists "postsByTitle" on posts using gin (lower("title") gin_trgm_ops)',
  usersByPartOfName: 'create index if not exists "usersByPartOfName" on users using gin (lower("name") gin_trgm_ops)',
  roomsByPartOfName: 'create index if not exists "roomsByPartOfName" on rooms using gin (lower("name") gin_trgm_ops)',
};

/**
 * Indexes for `contains`, where the extension pg_trgm is installed or can be installed; elsewhere a search reads every
 * row. Existing indexes are not touched, because even `if not exists` locks the table.
 */
async function createSearchIndexes(connection: PostgresConnection): Promise<void> {
  const session = new Session(connection);
  try {
    await session.send('begin');
    await session.send(`select pg_advisory_xact_lock(${lockId})`);
    const { rows } = await sql<{ indexname: string }>`
      select indexname from pg_indexes where schemaname = current_schema()`.execute(toTransaction(session));
    const existing = new Set(rows.map(({ indexname }) => indexname));
    const missing = Object.entries(searchIndexes).filter(([name]) => !existing.has(name));
    if (missing.length > 0) await session.send('create extension if not exists pg_trgm');
    for (const [, statement] of missing) await session.send(statement);
    await session.end('commit');
  } catch {
    await session.end('rollback');
  }
}
