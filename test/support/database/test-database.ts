import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { type DirectDatabase, DirectPostgres } from './direct-postgres.ts';
import { query } from './postgres-query.ts';
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

/** The session key of each database; on SQLite it is stored beside the file. */
const sessionKeys = new Map<string, string>();

/** The settings of a server, with the database in which the tests run. */
export async function withTestDatabase(settings: Record<string, string>): Promise<Record<string, string>> {
  const url = settings['DATABASE_URL'];
  if (server === undefined || url === undefined || !isReplaced(url)) return settings;
  const database = url === 'sqlite::memory:' ? await createDatabase() : await databaseOf(url.slice('sqlite:'.length));
  return { SESSION_KEY: sessionKeyOf(database), ...settings, DATABASE_URL: database };
}

function sessionKeyOf(database: string): string {
  const key = sessionKeys.get(database) ?? newSessionKey();
  sessionKeys.set(database, key);
  return key;
}

export function newSessionKey(): string {
  return String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
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
  await query(`${server}postgres`, `create database ${name} template ${template}`);
  return `${server}${name}`;
}

/** Deletes a database that no later server uses. */
export async function dropDatabase(url: string): Promise<void> {
  if (server === undefined || !url.startsWith(server)) return;
  await query(`${server}postgres`, `drop database if exists ${url.slice(server.length)} with (force)`);
}

/** Opens the database of a file, past the server that uses it. */
export function openDirectly(file: string): DirectDatabase {
  return isPostgresTest ? DirectPostgres.open(urlOf(file)) : new DatabaseSync(file, { timeout: 5_000 });
}

/** Renames a table, so that queries of it fail; the returned function restores it. */
export function breakTable(file: string, table: string): () => void {
  return rename(file, `alter table "${table}" rename to "broken"`, `alter table "broken" rename to "${table}"`);
}

/** Like `breakTable`, for the queries that read the column. */
export function breakColumn(file: string, table: string, column: string): () => void {
  const change = `alter table "${table}" rename column`;
  return rename(file, `${change} "${column}" to "broken"`, `${change} "broken" to "${column}"`);
}

function rename(file: string, change: string, revert: string): () => void {
  const database = openDirectly(file);
  if (!isPostgresTest) database.exec('pragma legacy_alter_table = on');
  database.exec(change);
  return () => {
    database.exec(revert);
    database.close();
  };
}

const tables = [
  'users',
  'rooms',
  'roomMembers',
  'directRooms',
  'formerMembers',
  'userLogs',
  'userEvents',
  'posts',
  'roomEvents',
  'apiKeys',
  'invitations',
  'mutes',
  'idempotencyKeys',
  'settings',
];

/** Copies all rows, as a backup does. */
export function copyTables(database: DirectDatabase): void {
  const copies = tables.map((table) => `create table old."${table}" as table public."${table}"`);
  database.exec(['drop schema if exists old cascade', 'create schema old', ...copies].join('; '));
}

/** Restores the rows that were copied, while servers use the database. */
export function restoreTables(database: DirectDatabase): void {
  const names = tables.map((table) => `"${table}"`).join(', ');
  const copies = tables.map((table) => `insert into public."${table}" select * from old."${table}"`);
  // A restore creates triggers after it has inserted the rows.
  const withoutTriggers = 'set local session_replication_role = replica';
  database.exec(['begin', withoutTriggers, `truncate ${names}`, ...copies, 'commit'].join('; '));
}
