import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { PostgresCluster } from '../database/postgres-cluster.ts';
import { newSessionKey } from '../database/test-database.ts';
import { type Settings, scratchFolder } from '../server/postroom.ts';

/**
 * A database that an earlier program has written. Ada and Bob sign in with ada@example.org, bob@example.org and `correct
 * horse`.
 */
export interface Archive {
  database: 'sqlite' | 'postgres';
  /** The number of migrations that the program knew. */
  version: number;
  /** Of the public room "lobby", which has seven events. */
  lobby: string;
  /** An API key of Ada's application. */
  apiKey: string;
  /** The cursor after the third event of the lobby. */
  cursor: string;
  /** The end of the first page of two posts in the lobby, which were "post 1" and "post 2". */
  pageEnd: string;
}

export const archives: readonly Archive[] = [
  {
    database: 'sqlite',
    version: 1,
    lobby: 'r01m834q8sh1aaqhfzfcdbrds3y',
    apiKey: 'pr_live_y23cHbhxxlYMCP4na3IIuTpEBher3AHptq',
    cursor: 'YzIzYTkwN2QuMy5yMDFtODM0cThzaDFhYXFoZnpmY2RicmRzM3k',
    pageEnd: 'MTc5NTQwMTk1MDA2NDpwMDFtODM0cTh2ZzAyNTk3N3IweGdhMW52MHY',
  },
  {
    database: 'sqlite',
    version: 5,
    lobby: 'r01m834qar4f7f307014xzfmts4',
    apiKey: 'pr_live_XDMuBHVJxb8YOgfxqv7Md5YgP16H4CSOb9',
    cursor: 'N2I0OTk2N2UuMy5yMDFtODM0cWFyNGY3ZjMwNzAxNHh6Zm10czQ',
    pageEnd: 'MTc5NTQwMTk1MjA1NjpwMDFtODM0cWFzcmZuZ240Zm5rMHM4YTJwOWs',
  },
  {
    database: 'postgres',
    version: 5,
    lobby: 'r01m834qdcz3hfj89x8ft4kp9as',
    apiKey: 'pr_live_RKG689PW6C2NrmXtvNZZGBtMi5ON4PoszV',
    cursor: 'MjUzMzMwY2EuMy5yMDFtODM0cWRjejNoZmo4OXg4ZnQ0a3A5YXM',
    pageEnd: 'MTc5NTQwMTk1NDgwMzpwMDFtODM0cWRma3luOWQ4dDFyNGUxc2Ewank',
  },
];

type Rows = Record<string, unknown>[];

/** A database of one test. */
export interface ArchiveDatabase {
  settings: Settings;
  execute(sql: string): Promise<Rows>;
}

/** Creates an empty database. */
export async function createDatabase(kind: Archive['database']): Promise<ArchiveDatabase> {
  if (kind === 'sqlite') {
    const file = join(scratchFolder(), 'postroom.db');
    return { settings: { DATABASE_URL: `sqlite:${file}` }, execute: async (sql) => executeIn(file, sql) };
  }
  const cluster = await PostgresCluster.start();
  onTestFinished(() => cluster.remove());
  const settings = { DATABASE_URL: cluster.url('postgres'), SESSION_KEY: newSessionKey() };
  return { settings, execute: (sql) => cluster.query('postgres', sql) };
}

export async function load({ database: kind, version }: Archive): Promise<ArchiveDatabase> {
  const database = await createDatabase(kind);
  await database.execute(readFileSync(new URL(`${kind}-${version}.sql`, import.meta.url), 'utf8'));
  return database;
}

function executeIn(file: string, sql: string): Rows {
  const database = new DatabaseSync(file);
  try {
    if (sql.startsWith('select')) return database.prepare(sql).all();
    database.exec(sql);
    return [];
  } finally {
    database.close();
  }
}
