import { join } from 'node:path';
import { expect } from 'vitest';
import type { PartOverrides } from '../../../src/server.ts';
import { EventStream, multipartHeaders } from '../clients/event-stream.ts';
import { ProtocolSocket } from '../clients/protocol-socket.ts';
import { grantAdmin, launchForTest, type Person, type Postroom, type Settings, scratchFolder } from './postroom.ts';

/* Streams whose end the tests wait for. */

/** A selection whose events are shared, one that depends on the viewer, and one that is slower to execute. */
const selections = [
  '__typename ... on PostCreated { post { title } }',
  '__typename room { viewerRole } ... on PostCreated { post { title } }',
  '__typename actor { email posts(last: 3) { title author { name } } } ... on PostCreated { post { title } }',
];
const followersEach = 6;

export interface StreamFixture {
  postroom: Postroom;
  file: string;
  /** The settings of a second process on the same database. */
  settings: Settings;
  /** The user whose credentials expire or are revoked. */
  ada: Person;
  /** An admin who owns the room. */
  owner: Person;
  room: string;
}

export async function launchStreamFixture(own: Settings = {}, overrides: PartOverrides = {}): Promise<StreamFixture> {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const postroom = await launchForTest({ ...settings, ...own }, overrides);
  const [ada, owner] = [await postroom.signUp('Ada'), await postroom.signUp('Owner')];
  await grantAdmin(settings, owner);
  const room = await postroom.createRoom(owner, 'hall');
  await postroom.ask(`mutation { joinRoom(input: { room: "${room}" }) { room { id } } }`, {}, ada.token);
  return { postroom, file, settings, ada, owner, room };
}

/** Creates a private room of the owner with these members. */
export async function createPrivateRoom(
  { postroom, owner }: StreamFixture,
  members: readonly string[],
): Promise<string> {
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

/** Creates an API key of Ada's application. */
export async function createKey({
  postroom,
  ada,
}: StreamFixture): Promise<{ key: string; id: string; userId: string }> {
  const create = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key apiKey { id user { id } } } }';
  const { key, apiKey } = (await postroom.ask(create, {}, ada.token)).createApiKey;
  return { key, id: apiKey.id, userId: apiKey.user.id };
}

/** Signs the person in again, which creates another session. */
export async function signIn(postroom: Postroom, { email, password }: Person): Promise<string> {
  const mutation = `mutation { signIn(input: { email: "${email}", password: "${password}" }) { accessToken } }`;
  return (await postroom.ask(mutation)).signIn.accessToken;
}

export interface Followers {
  sockets: ProtocolSocket[];
  streams: EventStream[];
}

/** Subscribes to a room over WebSocket, SSE and multipart, with several selections. */
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
    indices.map((index) => {
      const form = index < selections.length ? {} : multipartHeaders;
      return EventStream.open(graphqlUrl, query(index), { authorization, ...form });
    }),
  );
  return { sockets, streams };
}

/** The end of a subscription over WebSocket: the code of its `error` message, or the close code of its socket. */
export async function outcomeOf(socket: ProtocolSocket): Promise<number | string> {
  try {
    const { payload } = await socket.take(({ type }) => type === 'error');
    return payload[0].extensions.code;
  } catch {
    return (await socket.closed).code;
  }
}

/** The error code at the end of a subscription over HTTP. */
export async function lastErrorCodeOf(stream: EventStream): Promise<string | undefined> {
  await stream.closed;
  return stream.received.findLast(({ data }) => data?.errors)?.data.errors[0].extensions.code;
}

/** Expects that the credentials of the streams were revoked before any event. */
export async function expectRevoked({ sockets, streams }: Followers): Promise<void> {
  for (const socket of sockets) {
    expect(await outcomeOf(socket)).toBe(4403);
    expect(socket.nexts('e')).toEqual([]);
  }
  for (const stream of streams) {
    expect(await lastErrorCodeOf(stream)).toBe('UNAUTHENTICATED');
    expect(eventsOf(stream)).toEqual([]);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
export function eventsOf(stream: EventStream): any[] {
  return stream.received.flatMap(({ data }) => (data?.data ? [data.data] : []));
}
