import { join } from 'node:path';
import { EventStream } from './event-stream.ts';
import { launchForTest, type Person, type Postroom, run, type Settings, scratchFolder } from './postroom.ts';
import { ProtocolSocket } from './protocol-socket.ts';

/* Streams whose end is waited for. */

/** Shared by all, personal by what it asks for, and slower to execute than others. */
const selections = [
  '__typename ... on PostCreated { post { title } }',
  '__typename room { viewerRole } ... on PostCreated { post { title } }',
  '__typename actor { email posts(last: 3) { title author { name } } } ... on PostCreated { post { title } }',
];
const followersEach = 6;

export interface World {
  postroom: Postroom;
  file: string;
  /** Of a second process on the same database. */
  settings: Settings;
  /** Whose credentials end. */
  ada: Person;
  /** An admin, who owns the room. */
  owner: Person;
  room: string;
}

export async function launchWorld(own: Settings = {}): Promise<World> {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const postroom = await launchForTest({ ...settings, ...own });
  const [ada, owner] = [await postroom.signUp('Ada'), await postroom.signUp('Owner')];
  const { status } = await run(['grant-admin', owner.email], settings);
  if (status !== 0) throw new Error('There is no admin.');
  const room = await postroom.createRoom(owner, 'hall');
  await postroom.ask(`mutation { joinRoom(input: { room: "${room}" }) { room { id } } }`, {}, ada.token);
  return { postroom, file, settings, ada, owner, room };
}

/** A private room of the owner's. */
export async function createDen({ postroom, owner }: World, members: readonly string[]): Promise<string> {
  const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  const room: string = (await postroom.ask(create, {}, owner.token)).createRoom.room.id;
  for (const user of members)
    await postroom.ask(
      `mutation { addRoomMember(input: { room: "${room}", user: "${user}" }) { room { id } } }`,
      {},
      owner.token,
    );
  return room;
}

/** An application of Ada's. */
export async function createKey({ postroom, ada }: World): Promise<{ key: string; id: string; userId: string }> {
  const create = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key apiKey { id user { id } } } }';
  const { key, apiKey } = (await postroom.ask(create, {}, ada.token)).createApiKey;
  return { key, id: apiKey.id, userId: apiKey.user.id };
}

/** Another session of hers. */
export async function signIn(postroom: Postroom, { email, password }: Person): Promise<string> {
  const mutation = `mutation { signIn(input: { email: "${email}", password: "${password}" }) { accessToken } }`;
  return (await postroom.ask(mutation)).signIn.accessToken;
}

export interface Followers {
  sockets: ProtocolSocket[];
  streams: EventStream[];
}

/** Follows a room over WebSocket and SSE, by several selections. */
export async function follow(
  { webSocketUrl, graphqlUrl }: Postroom,
  room: string,
  authorization: string,
): Promise<Followers> {
  const indices = Array.from({ length: followersEach }, (_, index) => index);
  const query = (index: number) =>
    `subscription { roomEvents(room: "${room}") { ${selections[index % selections.length]} } }`;
  const openSocket = async (index: number) => {
    const socket = await ProtocolSocket.open(webSocketUrl, { init: { authorization } });
    await socket.follow('e', query(index));
    return socket;
  };
  const sockets = await Promise.all(indices.map(openSocket));
  const streams = await Promise.all(
    indices.map((index) => EventStream.open(graphqlUrl, query(index), { authorization })),
  );
  return { sockets, streams };
}

/** How a subscription over WebSocket ended: by its own last word, or with its socket. */
export async function outcomeOf(socket: ProtocolSocket): Promise<number | string> {
  try {
    const { payload } = await socket.take(({ type }) => type === 'error');
    return payload[0].extensions.code;
  } catch {
    return (await socket.closed).code;
  }
}

/** How one over SSE ended. */
export async function lastWordOf(stream: EventStream): Promise<string | undefined> {
  await stream.closed;
  return stream.received.findLast(({ data }) => data?.errors)?.data.errors[0].extensions.code;
}

// biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
export function eventsOf(stream: EventStream): any[] {
  return stream.received.flatMap(({ data }) => (data?.data ? [data.data] : []));
}
