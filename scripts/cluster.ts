import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Node, startNode } from './cluster/node.ts';
import { createPostgres, findPostgresPrograms } from './cluster/postgres.ts';
import type { Program } from './cluster/program.ts';
import { type Proxy, startProxy } from './cluster/proxy.ts';
import { findRedisProgram, startRedis } from './cluster/redis.ts';

/*
 * npm run cluster [-- --nodes N]
 *
 * Starts nodes on PostgreSQL and Redis behind a round-robin proxy, to try and to test what a cluster does. DATABASE_URL
 * and REDIS_URL select servers that run already; otherwise it starts its own, whose data are deleted at the end. All
 * other settings apply to every node. Nothing that exits is restarted: clients must cope with it, and that can be seen.
 */

const { values } = parseArgs({ options: { nodes: { type: 'string', default: '2' } } });
const nodeCount = Number(values.nodes);
const port = Number(process.env['PORT'] || 4_000);

const folder = mkdtempSync(join(tmpdir(), 'postroom-cluster-'));
const programs = new Set<Program>();
let proxy: Proxy | undefined;
let stopping: Promise<void> | undefined;

process.once('exit', () => {
  for (const program of programs) program.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void (stopping ??= stop()));

try {
  await start();
} catch (error) {
  if (!stopping) {
    console.error(`cluster: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
  await (stopping ??= stop());
}

async function start(): Promise<void> {
  if (!Number.isSafeInteger(nodeCount) || nodeCount < 1 || nodeCount > 9) {
    throw new Error(`--nodes must be a number from 1 to 9 (got ${JSON.stringify(values.nodes)})`);
  }
  const DATABASE_URL = process.env['DATABASE_URL'] || (await ownDatabase());
  const REDIS_URL = process.env['REDIS_URL'] || (await ownRedis());
  const settings = { DATABASE_URL, REDIS_URL, SESSION_KEY: process.env['SESSION_KEY'] || createSessionKey() };
  const ports = [`http://127.0.0.1:${port}`, `http://localhost:${port}`];
  const ALLOWED_ORIGINS = [process.env['ALLOWED_ORIGINS'], ...ports].filter(Boolean).join(',');
  const names = Array.from({ length: nodeCount }, (_, index) => `node ${index + 1}`);
  const nodes = await Promise.all(names.map((name) => openNode(name, { ...settings, ALLOWED_ORIGINS })));
  proxy = await startProxy(
    nodes.map(({ url }) => url),
    port,
  );
  if (stopping) return;
  console.log(`
Postroom is at ${proxy.url}/graphql, on ${nodes.length} nodes in turn:
${nodes
  .map(
    ({
      program: {
        name,
        process: { pid },
      },
      url,
    }) => `  ${name}      ${url}/graphql   (process ${pid})`,
  )
  .join('\n')}
  PostgreSQL  ${DATABASE_URL}
  Redis       ${REDIS_URL ?? 'none: messages between nodes use PostgreSQL'}
Stop it with Ctrl-C. To see a node drain or fail, send it SIGTERM or SIGKILL: its clients resume on another node.`);
}

async function ownDatabase(): Promise<string> {
  const binaries = findPostgresPrograms();
  if (binaries === undefined) {
    throw new Error(
      'PostgreSQL is not installed: initdb, postgres and createdb were not found. Install PostgreSQL 15 or later (Debian: apt install postgresql; macOS: brew install postgresql@17), or set DATABASE_URL to the postgres:// URL of a server that runs.',
    );
  }
  const { program, url } = await createPostgres(binaries, folder, ['fsync=off']);
  watch(program);
  return url;
}

/** Undefined if Redis is not installed. */
async function ownRedis(): Promise<string | undefined> {
  const path = findRedisProgram();
  if (path === undefined) return undefined;
  const { program, url } = await startRedis(path, folder);
  watch(program);
  return url;
}

async function openNode(name: string, settings: Record<string, string | undefined>): Promise<Node> {
  const isBanner = (line: string) => !line.startsWith('{');
  const node = await startNode(name, settings, (line) => {
    if (!isBanner(line)) console.log(`${name} | ${line}`);
  });
  watch(node.program);
  return node;
}

function watch(program: Program): void {
  programs.add(program);
  void program.exited.then((reason) => {
    if (!program.isStopping) console.log(`cluster: ${program.name} is gone: ${reason}. It is not restarted.`);
  });
}

/** The same key for all nodes. Without one in SESSION_KEY, sessions end with the cluster. */
function createSessionKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Nodes first, so that they still can write while they drain. */
async function stop(): Promise<void> {
  const isNode = ({ name }: Program) => name.startsWith('node');
  await Promise.all([...programs].filter(isNode).map((program) => program.stop()));
  await proxy?.close();
  await Promise.all([...programs].map((program) => program.stop()));
}
