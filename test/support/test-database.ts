import { randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { DirectPostgres } from './direct-postgres.ts';
import type { Settings } from './postroom.ts';
import { template } from './start-postgres.ts';

/*
 * Tests that start servers on SQLite run on PostgreSQL, too (npm run test:postgres): each SQLite file or database in
 * memory is then replaced by a PostgreSQL database.
 */

/** The URL of the server without a database; undefined if the tests run on SQLite. */
const server = process.env['TEST_POSTGRES'];
export const isPostgresTest = server !== undefined;

/** The database of each SQLite file. */
const databases = new Map<string, Promise<string>>();
const urls = new Map<string, string>();

/** A key that all servers on one database share; on SQLite it is stored beside the file. */
const sessionKey = process.env['TEST_SESSION_KEY'];

/** The settings of a server, with the database in which the tests run. */
export async function withTestDatabase<Own extends Settings>(settings: Own): Promise<Own> {
  const { DATABASE_URL: url } = settings;
  if (server === undefined || url === undefined || !isReplaced(url)) return settings;
  const database = url === 'sqlite::memory:' ? await createDatabase() : await databaseOf(url.slice('sqlite:'.length));
  return { ...(sessionKey && { SESSION_KEY: sessionKey }), ...settings, DATABASE_URL: database };
}

/** Other URLs are those that a server must refuse. */
function isReplaced(url: string): boolean {
  return url === 'sqlite::memory:' || /^sqlite:.*\.db$/.test(url);
}

function databaseOf(file: string): Promise<string> {
  const database = databases.get(file) ?? createDatabase();
  databases.set(file, database);
  void database.then((url) => urls.set(file, url));
  return database;
}

function urlOf(file: string): string {
  const url = urls.get(file);
  if (url === undefined) throw new Error(`No server has used ${file}.`);
  return url;
}

async function createDatabase(): Promise<string> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOnServer(`create database ${name} template ${template}`);
  return `${server}${name}`;
}

/** Deletes a database that no later server uses. */
export async function dropDatabase(url: string): Promise<void> {
  if (server === undefined || !url.startsWith(server)) return;
  await runOnServer(`drop database if exists ${url.slice(server.length)} with (force)`);
}

async function runOnServer(statement: string): Promise<void> {
  const client = new Client(`${server}postgres`);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** The part of `DatabaseSync` that tests use. */
export interface DirectDatabase {
  exec(sql: string): void;
  prepare(sql: string): {
    all(...parameters: (string | number | null)[]): Record<string, unknown>[];
    get(...parameters: (string | number | null)[]): Record<string, unknown> | undefined;
    run(...parameters: (string | number | null)[]): unknown;
  };
  close(): void;
}

/** Opens the database of a file, past the server that uses it. */
export function openDirectly(file: string): DirectDatabase {
  return isPostgresTest ? new DirectPostgres(urlOf(file)) : new DatabaseSync(file, { timeout: 5_000 });
}
