import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Node, startNode } from './cluster/node.ts';
import { createPostgres } from './cluster/postgres.ts';
import { findPostgresPrograms } from './cluster/postgres-programs.ts';
import { type Program, Programs } from './cluster/program.ts';
import { type RoundRobinProxy, startProxy } from './cluster/proxy.ts';
import { findRedisProgram, startRedis } from './cluster/redis.ts';
import { stopWithParent } from './stop-with-parent.ts';

/*
 * npm run cluster [-- --nodes N]
 *
 * Starts nodes on PostgreSQL and Redis behind a round-robin proxy, to try and to test what a cluster does. DATABASE_URL
 * and REDIS_URL select servers that run already; otherwise it starts its own, whose data are deleted at the end. PORT is
 * the port of the proxy. All other settings apply to every node. Nothing that exits is restarted: clients must cope with it, and that can be seen.
 */

const port = Number(process.env['PORT'] || 4_000);

const postgresIsMissing = `PostgreSQL is not installed: initdb, postgres, pg_ctl and createdb were not found.
  Install PostgreSQL 15 or later (Debian: apt install postgresql; macOS: brew install postgresql@17),
  or set DATABASE_URL to the postgres:// URL of a server that is running.`;

const folder = mkdtempSync(join(tmpdir(), 'postroom-cluster-'));
const programs = new Programs();
let proxy: RoundRobinProxy | undefined;
let isStopping = false;

process.once('exit', () => {
  programs.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void stop());
stopWithParent();

try {
  await start();
} catch (error) {
  if (!isStopping) {
    console.error(`cluster: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
  await stop();
}

async function start(): Promise<void> {
  const count = readCount();
  const settings = await findSettings();
  const names = Array.from({ length: count }, (_, index) => `node ${index + 1}`);
  const nodes = await Promise.all(names.map((name) => openNode(name, settings)));
  proxy = await startProxy(
    nodes.map(({ url }) => url),
    port,
  );
  if (isStopping) return void proxy.close();
  const urls = nodes.map(({ program, url }) => `  ${program.name}  ${url}/graphql  (process ${program.process.pid})\n`);
  console.log(`
Postroom is at ${proxy.url}/graphql, which connects to these nodes in turn:
${urls.join('')}
Stop the cluster with Ctrl-C. To see a node drain or fail, send its process SIGTERM or SIGKILL: clients resume on another.
`);
}

function readCount(): number {
  const { nodes } = parseArgs({ options: { nodes: { type: 'string', default: '2' } } }).values;
  if (/^[1-9]$/.test(nodes)) return Number(nodes);
  throw new Error(`--nodes must be a number from 1 to 9 (got ${JSON.stringify(nodes)}).`);
}

async function findSettings(): Promise<Record<string, string | undefined>> {
  const origins = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  return {
    DATABASE_URL: process.env['DATABASE_URL'] || (await createDatabase()),
    REDIS_URL: process.env['REDIS_URL'] || (await createRedis()),
    SESSION_KEY: process.env['SESSION_KEY'] || createSessionKey(),
    // Pages that were loaded from the proxy.
    ALLOWED_ORIGINS: [process.env['ALLOWED_ORIGINS'], ...origins].filter(Boolean).join(','),
  };
}

async function createDatabase(): Promise<string> {
  const binaries = findPostgresPrograms();
  if (binaries === undefined) throw new Error(postgresIsMissing);
  const { program, url } = await createPostgres(programs, binaries, folder, ['fsync=off']);
  reportExit(program);
  console.log(`PostgreSQL is at ${url} (its data are deleted at the end)`);
  return url;
}

/** Undefined if Redis is not installed. */
async function createRedis(): Promise<string | undefined> {
  const path = findRedisProgram();
  if (path === undefined) return void console.log('Redis is not installed: messages between nodes use PostgreSQL');
  const { program, url } = await startRedis(programs, path, folder);
  reportExit(program);
  console.log(`Redis is at ${url}`);
  return url;
}

async function openNode(name: string, settings: Record<string, string | undefined>): Promise<Node> {
  const node = await startNode(programs, name, settings, (line) => {
    if (line.startsWith('{')) console.log(`${name} | ${line}`);
  });
  reportExit(node.program);
  return node;
}

function reportExit(program: Program): void {
  void program.exited.then((reason) => {
    if (!program.isStopping) console.log(`cluster: ${program.name} is gone: ${reason}. It is not restarted.`);
  });
}

/** One key for all nodes. */
function createSessionKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

async function stop(): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  await programs.stop();
  await proxy?.close();
}
