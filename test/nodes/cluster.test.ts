import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { findPostgresPrograms } from '../../scripts/cluster/postgres-programs.ts';
import { findFreePort } from '../../scripts/free-port.ts';
import { inRepository } from '../../scripts/repository.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { Postroom, programEnvironment } from '../support/server/postroom.ts';

const hasPostgres = findPostgresPrograms() !== undefined;

interface Cluster {
  process: ChildProcess;
  output: string[];
  proxy: Postroom;
  nodes: { postroom: Postroom; pid: number }[];
}

class AnyServer extends Postroom {
  constructor(url: string) {
    super(url, []);
  }

  stop(): Promise<null> {
    return Promise.resolve(null);
  }
}

function start(settings: Record<string, string>, args: string[] = []): { process: ChildProcess; output: string[] } {
  const child = spawn(process.execPath, [inRepository('scripts/cluster.ts'), ...args], {
    env: { ...programEnvironment, TMPDIR: tmpdir(), RATE_LIMIT: '0', LOG_LEVEL: 'warn', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const output: string[] = [];
  createInterface(child.stderr).on('line', (line) => output.push(line));
  createInterface(child.stdout).on('line', (line) => output.push(line));
  return { process: child, output };
}

async function startCluster(): Promise<Cluster> {
  const cluster = start({ PORT: String(await findFreePort()) });
  await expect.poll(() => cluster.output.join('\n')).toMatch(/^(Stop the cluster|cluster: )/m);
  const text = cluster.output.join('\n');
  const [, url = ''] = /^Postroom is at (\S+)\/graphql/m.exec(text) ?? [];
  const nodes = [...text.matchAll(/^ {2}node \d {2}(\S+)\/graphql {2}\(process (\d+)\)$/gm)];
  return {
    ...cluster,
    proxy: new AnyServer(url),
    nodes: nodes.map(([, nodeUrl = '', pid]) => ({ postroom: new AnyServer(nodeUrl), pid: Number(pid) })),
  };
}

it.skipIf(!hasPostgres)(
  'npm run cluster: nodes on one PostgreSQL behind a proxy; an event of one node reaches subscribers of the other (skipped without PostgreSQL)',
  async () => {
    const { process: cluster, output, proxy, nodes } = await startCluster();
    const [first, second] = nodes;
    if (!first || !second) throw new Error(output.join('\n'));
    const ada = await proxy.signUp('Ada');
    const room = await proxy.createRoom(ada, 'lobby');
    const query = `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { title } } } }`;
    const sockets = await Promise.all(
      [first.postroom, second.postroom, proxy, proxy].map((server) => ProtocolSocket.open(server.webSocketUrl)),
    );
    for (const socket of sockets) await socket.follow('1', query);
    await first.postroom.createPost(ada, room, 'through the first node');
    await proxy.createPost(ada, room, 'through the proxy');
    for (const socket of sockets) {
      for (const title of ['through the first node', 'through the proxy']) {
        expect((await socket.take(({ type }) => type === 'next')).payload.data).toEqual({
          roomEvents: { post: { title } },
        });
      }
    }
    // A node that is gone is reported and not restarted; the proxy uses the other one.
    process.kill(first.pid, 'SIGKILL');
    await expect.poll(() => output.join('\n')).toContain('cluster: node 1 is gone: it was ended by SIGKILL.');
    await proxy.createPost(ada, room, 'through the second node');
    await expect(fetch(`${first.postroom.url}/health`)).rejects.toThrow();
    const ended = once(cluster, 'exit');
    cluster.kill('SIGINT');
    expect((await sockets[1]?.closed)?.code).toBe(1012);
    expect(await ended).toEqual([0, null]);
  },
);

it('npm run cluster refuses an unknown option in one line, with status 1', async () => {
  const { process: cluster, output } = start({}, ['--nods', '3']);
  expect(await once(cluster, 'close')).toEqual([1, null]);
  expect(output).toEqual([expect.stringMatching(/^cluster: Unknown option '--nods'/)]);
});

it('npm run cluster refuses a number of nodes that is not from 1 to 9, with status 1', async () => {
  const { process: cluster, output } = start({}, ['--nodes', '0']);
  expect(await once(cluster, 'close')).toEqual([1, null]);
  expect(output).toEqual(['cluster: --nodes must be a number from 1 to 9 (got "0").']);
});
