import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Client } from 'pg';

const serverUrl = process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';
export const redisUrl = process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379';

/** Runs `work` with the URL of an empty database, which is dropped afterwards. */
export async function withDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const name = `postroom_bench_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(serverUrl);
  url.pathname = name;
  await query(serverUrl, `create database ${name}`);
  try {
    return await work(url.href);
  } finally {
    await query(serverUrl, `drop database ${name} with (force)`);
  }
}

/** Runs a statement on a connection of its own. */
export function query<Row>(url: string, sql: string): Promise<Row[]> {
  return onConnection(url, async (client) => (await client.query(sql)).rows);
}

export async function onConnection<T>(connectionString: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** The settings of a node without limits. */
export function nodeSettings(databaseUrl: string): Record<string, string> {
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  return {
    PORT: '0',
    DATABASE_URL: databaseUrl,
    SESSION_KEY: String(key),
    RATE_LIMIT: '0',
    SIGN_IN_ATTEMPTS: '1000000',
  };
}
