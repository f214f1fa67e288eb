import { sql } from 'kysely';
import { migrate } from '../migrations/migrate.ts';
import type { TableDialect } from '../migrations/migration.ts';
import type { PostgresConnection } from './connection.ts';
import { toTransaction } from './dialect.ts';
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

/** Brings the tables up to date. Only one program at a time does so. @throws DatabaseUnusable */
export async function migrateTables(connection: PostgresConnection): Promise<void> {
  const session = new Session(connection);
  try {
    await session.send('begin');
    await session.send(`select pg_advisory_xact_lock(${lockId})`);
    const db = toTransaction(session);
    await migrate(db, dialect);
    const failure = await session.end('commit');
    if (failure) throw failure.error;
  } catch (error) {
    await session.end('rollback');
    throw error;
  }
  await createSearchIndexes(connection);
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
