import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import type { Sandbox } from './sandbox.ts';

/** The PostgreSQL server in which attacks create databases of their own. */
const serverUrl = process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/postgres';

/** The settings of a server on a new database, which is dropped after the attack; undefined without a PostgreSQL server. */
export async function createPostgresDatabase(sandbox: Sandbox): Promise<Record<string, string> | undefined> {
  if (!(await isReachable())) return undefined;
  const name = `postroom_attack_${randomUUID().replaceAll('-', '')}`;
  await runSql(serverUrl, `create database ${name}`);
  sandbox.onEnd(() => runSql(serverUrl, `drop database ${name} with (force)`));
  const url = new URL(serverUrl);
  url.pathname = name;
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  return { DATABASE_URL: url.href, SESSION_KEY: String(key) };
}

/** Runs statements on a connection of their own. */
export async function runSql(connectionString: string, statements: string): Promise<void> {
  const client = new Client({ connectionString, connectionTimeoutMillis: 5_000 });
  try {
    await client.connect();
    await client.query(statements);
  } finally {
    await client.end().catch(() => {});
  }
}

function isReachable(): Promise<boolean> {
  return runSql(serverUrl, 'select 1').then(
    () => true,
    () => false,
  );
}
