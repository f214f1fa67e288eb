import { fileURLToPath } from 'node:url';
import { createPost, createRoom, signUp } from '../support/accounts.ts';
import { post } from '../support/client.ts';
import { Postroom } from '../support/postroom.ts';
import { childrenOf, cpuMicrosOf } from '../support/processes.ts';
import { Server } from '../support/server.ts';
import type { ClientKind } from './client.ts';

/** A server with one stream, which all clients read. */
export interface Running {
  kind: ClientKind;
  port: number;
  room: string;
  /** Sends the message with this number. Resolves when the server has confirmed it. */
  publish(number: number): Promise<void>;
  restart(): Promise<void>;
  /** Of all its processes. */
  cpuMicros(): number;
  stop(): Promise<void>;
}

export const servers = {
  postroom: { title: 'Postroom', start: () => startPostroom(1) },
  'postroom-workers': { title: 'Postroom, WORKERS=2', start: () => startPostroom(2) },
  'socket-io': { title: 'Socket.IO', start: () => startPeer('socket-io', {}) },
  'socket-io-recovery': {
    title: 'Socket.IO with connection state recovery',
    start: () => startPeer('socket-io', { RECOVERY: '1' }),
  },
  ws: { title: 'ws', start: () => startPeer('ws', {}) },
} satisfies Record<string, { title: string; start: () => Promise<Running> }>;

/** Its number, and the time in milliseconds of a clock that all processes of a machine share. */
function createMessage(number: number): string {
  return `${number} ${Number(process.hrtime.bigint()) / 1e6}`;
}

export async function startPostroom(workers: number): Promise<Running & { postroom: Postroom }> {
  const postroom = await Postroom.start({ workers });
  const { port } = postroom;
  const token = await signUp(port);
  const room = await createRoom(port, token);
  return {
    postroom,
    kind: 'postroom',
    port,
    room,
    publish: (number) => createPost(port, token, { room, title: createMessage(number) }),
    restart: () => (workers > 1 ? postroom.replaceWorkers() : postroom.restart()),
    cpuMicros: () =>
      cpuMicrosOf(postroom.pid) + childrenOf(postroom.pid).reduce((sum, pid) => sum + cpuMicrosOf(pid), 0),
    stop: () => postroom.stop(),
  };
}

async function startPeer(kind: 'socket-io' | 'ws', environment: Record<string, string>): Promise<Running> {
  const file = fileURLToPath(new URL(`../comparison/reconnects/${kind}.ts`, import.meta.url));
  const start = (port: number) =>
    Server.start({ command: [file], environment: { ...environment, PORT: String(port) } });
  let server = await start(0);
  const { port } = server;
  return {
    kind,
    port,
    room: '',
    publish: async (number) => void (await post({ port, path: '/publish', body: createMessage(number) })),
    async restart() {
      await server.stop();
      server = await start(port);
    },
    cpuMicros: () => cpuMicrosOf(server.pid),
    stop: () => server.stop(),
  };
}
