import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createRoom, signUp } from '../support/accounts.ts';
import { ask, post } from '../support/client.ts';
import { program, nodeOptions as programOptions } from '../support/program.ts';
import { Server } from '../support/server.ts';

/** A running server with rooms, to which events are published. */
export interface Candidate {
  server: Server;
  /** Whether its subscribers use GraphQL. */
  isGraphQL: boolean;
  createRooms(count: number): Promise<string[]>;
  /** Sends one request that publishes an event in each of these rooms. Resolves with its answer. */
  publish(rooms: readonly string[], title: string): Promise<unknown>;
}

export interface StartOptions {
  /** The length of an event of raw ws, which is the length of Postroom's event. */
  eventBytes: number;
  nodeOptions: string[];
}

export const stockServers = ['yoga', 'apollo', 'mercurius'] as const;
export type CandidateName =
  | 'raw-ws'
  | 'raw-ws-after-mutation'
  | 'graphql-ws'
  | (typeof stockServers)[number]
  | 'postroom';

export const allCandidates: CandidateName[] = ['raw-ws', ...stockServers, 'postroom'];

export const titles: Record<CandidateName, string> = {
  'raw-ws': 'raw ws, constant bytes',
  'raw-ws-after-mutation': 'raw ws after the same mutation',
  'graphql-ws': 'ws + graphql-ws alone',
  yoga: 'Yoga + graphql-ws',
  apollo: 'Apollo Server + graphql-ws',
  mercurius: 'Mercurius',
  postroom: 'Postroom',
};

const body =
  'A body of some length, as people write them to each other in a room: two lines on a phone, one on a desk.';
const memoryDisk = '/dev/shm';

export function start(name: CandidateName, options: StartOptions): Promise<Candidate> {
  if (name === 'postroom') return startPostroom(options);
  return name === 'raw-ws-after-mutation' ? startAfterMutation(options) : startInMemory(name, options);
}

/** A server that creates its events in memory. */
async function startInMemory(name: CandidateName, { eventBytes, nodeOptions }: StartOptions): Promise<Candidate> {
  const environment = { EVENT_BYTES: String(eventBytes) };
  const isGraphQL = name !== 'raw-ws';
  const file = fileURLToPath(
    new URL(`${isGraphQL ? '../comparison/fan-out' : './servers'}/${name}.ts`, import.meta.url),
  );
  const server = await Server.start({ command: [file], environment, nodeOptions });
  return {
    server,
    isGraphQL,
    createRooms: async (count) => Array.from({ length: count }, () => randomUUID()),
    publish(rooms, title) {
      const parameters = [['title', title], ['body', body], ...rooms.map((room) => ['room', room])];
      return post({ port: server.port, path: `/publish?${new URLSearchParams(parameters)}` });
    },
  };
}

async function startPostroom({ nodeOptions }: StartOptions): Promise<Candidate> {
  const server = await Server.start({ command: program, environment: postroomSettings(), nodeOptions });
  return { server, isGraphQL: true, ...(await createAuthor(server.port)) };
}

/** The process of Postroom, in which raw ws delivers the events. */
async function startAfterMutation({ eventBytes, nodeOptions }: StartOptions): Promise<Candidate> {
  const environment = { ...postroomSettings(), EVENT_BYTES: String(eventBytes) };
  const file = fileURLToPath(new URL('./servers/raw-ws-after-mutation.ts', import.meta.url));
  const server = await Server.start({ command: [...programOptions, file], environment, nodeOptions });
  const url = new URL(await post({ port: server.port, path: '/' }));
  return { server, isGraphQL: false, ...(await createAuthor(Number(url.port))) };
}

/** An empty database and no limits. */
function postroomSettings(): Record<string, string> {
  const limits = { RATE_LIMIT: '0', LIMIT_SOCKETS: '1000000', SIGN_IN_ATTEMPTS: '1000000' };
  // The disk must not affect the figures, so the database file is in memory if the system has such a folder.
  const disk = existsSync(memoryDisk) ? { TMPDIR: memoryDisk } : {};
  return { PORT: '0', DATABASE_URL: 'sqlite::memory:', ...disk, ...limits };
}

/** Publishes events with the mutation `createPost`. */
async function createAuthor(port: number): Promise<Pick<Candidate, 'createRooms' | 'publish'>> {
  const token = await signUp(port);
  return {
    async createRooms(count) {
      const rooms: string[] = [];
      for (let index = 0; index < count; index += 1) rooms.push(await createRoom(port, token, randomUUID()));
      return rooms;
    },
    publish(rooms, title) {
      const ids = Object.fromEntries(rooms.map((room, number) => [`r${number}`, room]));
      return ask(port, { query: createPostsMutation(rooms.length), variables: { title, body, ...ids }, token });
    },
  };
}

/** Its variables `r0`, `r1` and so on are the rooms. */
function createPostsMutation(count: number): string {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const variables = numbers.map((number) => `$r${number}: ID!`);
  const fields = numbers.map(
    (number) => `p${number}: createPost(input: { room: $r${number}, title: $title, body: $body }) { post { id } }`,
  );
  return `mutation ($title: String!, $body: String!, ${variables.join(', ')}) { ${fields.join(' ')} }`;
}
