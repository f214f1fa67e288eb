import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { program, nodeOptions as programOptions } from '../program.ts';
import { post } from './http-client.ts';
import { Server, serverFile } from './server.ts';

/** A running contestant: rooms, and events in them. */
export interface Contestant {
  server: Server;
  /** Whether its subscribers speak GraphQL. */
  isGraphQL: boolean;
  createRooms(count: number): Promise<string[]>;
  /** One request that makes an event in each of these rooms; resolves with its answer. */
  publish(rooms: readonly string[], title: string): Promise<unknown>;
}

export interface StartOptions {
  /** What the floor sends: as many bytes as Postroom. */
  frameBytes: number;
  nodeOptions: string[];
}

export const peers = ['yoga', 'apollo', 'mercurius'] as const;
type Peer = (typeof peers)[number];
export type ContestantName = 'raw-ws' | 'raw-ws-behind-postroom' | 'graphql-ws' | Peer | 'postroom';

export const everyone: ContestantName[] = ['raw-ws', ...peers, 'postroom'];

export const titles: Record<ContestantName, string> = {
  'raw-ws': 'raw ws, constant bytes',
  'raw-ws-behind-postroom': 'raw ws behind the same mutation',
  'graphql-ws': 'ws + graphql-ws alone',
  yoga: 'Yoga + graphql-ws',
  apollo: 'Apollo Server + graphql-ws',
  mercurius: 'Mercurius',
  postroom: 'Postroom',
};

const body =
  'A body of some length, as people write them to each other in a room: two lines on a phone, one on a desk.';
const memoryDisk = '/dev/shm';

export function start(name: ContestantName, options: StartOptions): Promise<Contestant> {
  if (name === 'postroom') return startPostroom(options);
  return name === 'raw-ws-behind-postroom' ? startBehindPostroom(options) : startPeer(name, options);
}

async function startPeer(name: ContestantName, { frameBytes, nodeOptions }: StartOptions): Promise<Contestant> {
  const environment = { FRAME_BYTES: String(frameBytes) };
  const server = await Server.start({ command: [serverFile(name)], environment, nodeOptions });
  return {
    server,
    isGraphQL: name !== 'raw-ws',
    createRooms: async (count) => Array.from({ length: count }, randomUUID),
    publish(rooms, title) {
      const parameters = [['title', title], ['body', body], ...rooms.map((room) => ['room', room])];
      return post({ port: server.port, path: `/publish?${new URLSearchParams(parameters)}` });
    },
  };
}

/** The real program. */
async function startPostroom({ nodeOptions }: StartOptions): Promise<Contestant> {
  const server = await Server.start({ command: program, environment: postroomSettings(), nodeOptions });
  return { server, isGraphQL: true, ...(await createAuthor(server.port)) };
}

/** What Postroom's process costs where raw ws delivers. */
async function startBehindPostroom({ frameBytes, nodeOptions }: StartOptions): Promise<Contestant> {
  const environment = { ...postroomSettings(), FRAME_BYTES: String(frameBytes) };
  const server = await Server.start({
    command: [...programOptions, serverFile('raw-ws-behind-postroom')],
    environment,
    nodeOptions,
  });
  const url = new URL(await post({ port: server.port, path: '/' }));
  return { server, isGraphQL: false, ...(await createAuthor(Number(url.port))) };
}

/** A database of its own, and no limits. */
function postroomSettings(): Record<string, string> {
  const limitless = { RATE_LIMIT: '0', LIMIT_SOCKETS: '1000000', SIGN_IN_ATTEMPTS: '1000000' };
  // The disk is not what is measured: where memory passes for one, the database stands there.
  const disk = existsSync(memoryDisk) ? { TMPDIR: memoryDisk } : {};
  const database = { DATABASE_URL: 'sqlite::memory:', ...disk };
  return { PORT: '0', LOG_LEVEL: 'warn', ...database, ...limitless };
}

/** Its events are what `createPost` causes. */
async function createAuthor(port: number): Promise<Pick<Contestant, 'createRooms' | 'publish'>> {
  const ask = createAsk(port);
  const person = { name: 'Ada Lovelace', email: 'ada@example.org', password: 'correct horse battery' };
  const { signUp } = await ask(signUpMutation, { input: person });
  const authorization = `Bearer ${signUp.accessToken}`;
  return {
    async createRooms(count) {
      const rooms: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const { createRoom } = await ask(createRoomMutation, { input: { name: randomUUID() } }, authorization);
        rooms.push(createRoom.room.id);
      }
      return rooms;
    },
    publish(rooms, title) {
      const variables = Object.fromEntries(rooms.map((room, number) => [`r${number}`, room]));
      return ask(createPostsMutation(rooms.length), { title, body, ...variables }, authorization);
    },
  };
}

const signUpMutation = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
const createRoomMutation = 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }';

/** The rooms are its variables `r0`, `r1` and so on. */
function createPostsMutation(count: number): string {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const variables = numbers.map((number) => `$r${number}: ID!`);
  const fields = numbers.map(
    (number) => `p${number}: createPost(input: { room: $r${number}, title: $title, body: $body }) { post { id } }`,
  );
  return `mutation ($title: String!, $body: String!, ${variables.join(', ')}) { ${fields.join(' ')} }`;
}

interface Answers {
  signUp: { accessToken: string };
  createRoom: { room: { id: string } };
}

function createAsk(port: number) {
  return async (query: string, variables: object, authorization?: string): Promise<Answers> => {
    const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
    const text = await post({ port, path: '/graphql', headers, body: JSON.stringify({ query, variables }) });
    return (JSON.parse(text) as { data: Answers }).data;
  };
}
