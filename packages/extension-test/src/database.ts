import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';

/** The database of one test, past the server that uses it. */
export interface TestDatabase {
  /** Those of the server. */
  settings: Record<string, string>;
  /** The query of the names of tables. */
  tables: string;
  query: (sql: string) => Promise<Record<string, unknown>[]>;
  drop: () => Promise<unknown>;
}

export function createSqlite(): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'extension-test-'));
  const file = join(folder, 'postroom.db');
  return {
    settings: { DATABASE_URL: `sqlite:${file}` },
    tables: `select name from sqlite_schema where type = 'table'`,
    query: async (sql) => {
      using database = new DatabaseSync(file, { readOnly: true });
      return database.prepare(sql).all();
    },
    drop: async () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A new database of the server at `url`, whose user may create databases. */
export async function createPostgres(url: string): Promise<TestDatabase> {
  const name = `extension_test_${randomBytes(8).toString('hex')}`;
  const own = Object.assign(new URL(url), { pathname: name }).href;
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  await queryPostgres(url, `create database ${name}`);
  return {
    settings: { DATABASE_URL: own, SESSION_KEY: String(key) },
    tables: 'select tablename as name from pg_tables where schemaname = current_schema()',
    query: (sql) => queryPostgres(own, sql),
    drop: () => queryPostgres(url, `drop database ${name} with (force)`),
  };
}

async function queryPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client(url);
  await client.connect();
  return (await client.query(sql).finally(() => client.end())).rows;
}
