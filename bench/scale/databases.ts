import { generateKeyPairSync } from 'node:crypto';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { createTemporaryFolder } from '../data/history.ts';
import { program } from '../support/program.ts';
import { Server } from '../support/server.ts';
import { generate, type Sizes, sizesOf } from './generate.ts';

const smallPosts = 10_000;

/** A database for the benchmark, and the sizes with which it was generated. */
export interface Generated {
  url: string;
  sizes: Sizes;
}

export interface Databases {
  small: Generated;
  large: Generated;
  /** Creates an empty database, and returns its URL. */
  createEmpty: () => Promise<string>;
}

export interface Run extends Databases {
  rounds: number;
}

interface Options {
  /** The number of posts in the large database. */
  posts: number;
  /** SQLite files in this folder are kept, and used again by the next run. */
  folder: string | undefined;
  /** The URL of a PostgreSQL server, ending with a slash; without it the databases are SQLite files. */
  server: string | undefined;
}

/** Generates the databases. They are removed at the end. */
export async function openDatabases({ posts, folder, server }: Options): Promise<Databases & AsyncDisposable> {
  const opened = new AsyncDisposableStack();
  const create = server ? createPostgres(server, opened) : createSqlite(folder);
  const open = async (posts: number): Promise<Generated> => {
    const { url, isNew } = await create(`posts${posts}`);
    const sizes = sizesOf(posts);
    if (isNew) await generate(url, sizes);
    return { url, sizes };
  };
  const createEmpty = async () => (await create(`empty${Date.now()}`)).url;
  const [small, large] = [await open(smallPosts), await open(posts)];
  return { small, large, createEmpty, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

type Create = (name: string) => Promise<{ url: string; isNew: boolean }>;

function createSqlite(given: string | undefined): Create {
  const folder = given ?? createTemporaryFolder();
  mkdirSync(folder, { recursive: true });
  return async (name) => {
    const path = join(folder, `${name}.db`);
    if (name.startsWith('empty')) process.once('exit', () => rmSync(path, { force: true }));
    return { url: `sqlite:${path}`, isNew: !existsSync(path) };
  };
}

function createPostgres(server: string, opened: AsyncDisposableStack): Create {
  return async (name) => {
    const database = `bench_${name}_${process.pid}`;
    await runOn(server, `create database ${database}`);
    opened.defer(() => runOn(server, `drop database ${database} with (force)`));
    return { url: `${server}${database}`, isNew: true };
  };
}

async function runOn(server: string, statement: string): Promise<void> {
  const client = new Client(`${server}postgres`);
  await client.connect();
  await client.query(statement);
  await client.end();
}

/** On PostgreSQL the session key must be set. */
const { privateKey } = generateKeyPairSync('ed25519');

/** Starts a server without limits on one of the databases. */
export function startServer(url: string, options: { reportsUsage?: boolean } = {}): Promise<Server> {
  const environment = {
    PORT: '0',
    RATE_LIMIT: '0',
    SIGN_IN_ATTEMPTS: '1000',
    DATABASE_URL: url,
    ...(url.startsWith('sqlite:') ? {} : { SESSION_KEY: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) }),
  };
  return Server.start({ command: program, environment, ...options });
}
