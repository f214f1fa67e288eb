import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { PostgresCluster, postgresPrograms } from '../database/postgres-cluster.ts';
import { newSessionKey } from '../database/test-database.ts';
import { hasRedis, RedisServer } from '../rooms/redis-server.ts';
import { mainProgram, type Settings } from '../server/postroom.ts';
import { ChaosNode } from './node.ts';

const missing = postgresPrograms === undefined ? 'initdb' : hasRedis ? undefined : 'redis-server';
/** Whether the servers of a deployment are installed; tests that need them are skipped otherwise. */
export const canDeploy = missing === undefined;
/** The end of the titles of these tests. */
export const skipNote = canDeploy ? '' : ` (skipped, because ${missing} is not installed)`;

export const databaseName = 'chaos';
/** After a crash of the server everything that was acknowledged must be there. */
const durable = { fsync: 'on', full_page_writes: 'on' };

export interface DeploymentOptions {
  nodes: number;
  /** Whether the nodes use Redis as their bus; otherwise they use PostgreSQL. */
  withRedis: boolean;
  settings?: Settings;
  /** The arguments that start the program of the nodes. */
  program?: string[];
}

/** PostgreSQL, Redis and nodes of a test alone, which are removed after the test. */
export interface Deployment {
  postgres: PostgresCluster;
  /** The URL of the database, past all proxies. */
  databaseUrl: string;
  redis: RedisServer | undefined;
  nodes: ChaosNode[];
}

export async function deploy({
  nodes: count,
  withRedis,
  settings = {},
  program = mainProgram,
}: DeploymentOptions): Promise<Deployment> {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-chaos-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const postgres = await PostgresCluster.start(durable);
  onTestFinished(() => postgres.remove());
  await postgres.query('postgres', `create database ${databaseName}`);
  const redis = withRedis ? await RedisServer.launch() : undefined;
  onTestFinished(() => redis?.stop());
  const SESSION_KEY = newSessionKey();
  const databaseUrl = postgres.url(databaseName);
  const create = async (index: number) => {
    const options = { name: `node${index + 1}`, folder, databaseUrl, redisUrl: redis?.url };
    const node = await ChaosNode.create({ ...options, settings: { SESSION_KEY, ...settings }, program });
    onTestFinished(() => node.close());
    return node;
  };
  return {
    postgres,
    databaseUrl,
    redis,
    nodes: await Promise.all(Array.from({ length: count }, (_, index) => create(index))),
  };
}
