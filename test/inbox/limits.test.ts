import { beforeAll, describe, expect, it } from 'vitest';
import { createId } from '../../src/common/ids.ts';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { insert } from '../support/database/rows.ts';
import { readSeries } from '../support/engine/metrics.ts';
import { change, InboxStream, inboxQuery, refusalOf } from '../support/inbox/inbox-stream.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const maxRooms = 1_000;

const server = shareServer();
let postroom: Postroom;
let ada: Person;

beforeAll(() => {
  postroom = server.postroom;
});

/** Writes rooms with one member, past the server: creating them one by one would take most of the time of the tests. */
function writeRooms(member: Person, count: number): void {
  const ids = Array.from({ length: count }, () => createId('Room'));
  const room = { head: 0, createdAt: 1, updatedAt: 1, version: 1 };
  const rows = ids.map((id, index) => ({ ...room, id, name: `${member.id} ${index}`, ownerId: member.id }));
  insert(server.databaseFile, 'rooms', rows);
  insert(
    server.databaseFile,
    'roomMembers',
    ids.map((roomId) => ({ roomId, userId: member.id, joinedAt: 1 })),
  );
}

describe('an inbox of 1,000 rooms', () => {
  let inbox: InboxStream;

  beforeAll(async () => {
    ada = await postroom.signUp('Ada');
    writeRooms(ada, maxRooms);
  });

  it('is opened, and resumes with the cursors of all rooms, over a WebSocket and over SSE', async () => {
    inbox = await InboxStream.open(postroom, ada);
    const { cursors } = inbox;
    expect(Object.keys(cursors)).toHaveLength(maxRooms);
    // The answer to a ping has its payload.
    inbox.socket.send({ type: 'pong', payload: { live: { inbox: cursors } } });
    await inbox.socket.settle();
    const [room = ''] = Object.keys(cursors);
    await postroom.createPost(ada, room, 'one');
    const after = Object.values(cursors);
    const headers = { authorization: `Bearer ${ada.token}` };
    const resumed = [
      await InboxStream.open(postroom, ada, { seen: cursors }),
      await InboxStream.open(postroom, ada, { after }),
    ];
    for (const each of resumed) expect((await each.next()).post).toEqual({ title: 'one' });
    const stream = await EventStream.open(postroom.graphqlUrl, inboxQuery, headers, { after });
    expect(await stream.results.next()).toMatchObject({ data: { inbox: { post: { title: 'one' } } } });
  });

  it('leaves no rooms to a second inbox on its WebSocket, before it ends', async () => {
    const { socket } = await InboxStream.open(postroom, ada);
    const error = { extensions: { code: 'SUBSCRIPTION_LIMIT_EXCEEDED' } };
    expect(await socket.subscribe('second', inboxQuery).refused).toMatchObject([error]);
    socket.complete('inbox');
    expect(Object.keys(await socket.subscribe('third', inboxQuery).start)).toHaveLength(maxRooms);
  });

  it('ends with SUBSCRIPTION_LIMIT_EXCEEDED when its viewer joins one more room, and is refused then', async () => {
    const ended = async () =>
      (await readSeries(postroom, 'postroom_subscriptions_ended_total'))['websocket SUBSCRIPTION_LIMIT_EXCEEDED'] ?? 0;
    const before = await ended();
    const live = await InboxStream.open(postroom, ada);
    await postroom.createRoom(ada, 'one more');
    const message = expect.stringContaining('up to 1000 rooms');
    const error = { message, extensions: { code: 'SUBSCRIPTION_LIMIT_EXCEEDED' } };
    expect(await live.refused).toMatchObject([error]);
    expect(await refusalOf(postroom, ada)).toMatchObject(error);
    // A stream that could not be opened has not been ended by its client.
    expect(await ended()).toBe(before + 2);
  });
});

describe('`live.seen` of an inbox', () => {
  /** The close code and reason after this `seen`; undefined if the server acknowledges it. */
  async function closeOf(seen: unknown): Promise<{ code: number; reason: string } | undefined> {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: false });
    socket.send({ type: 'connection_init', payload: { live: { seen } } });
    return Promise.race([socket.closed, socket.take(({ type }) => type === 'connection_ack').then(() => undefined)]);
  }

  const longestCursor = 'c'.repeat(76);
  const list = (count: number) => Array.from({ length: count }, () => longestCursor);
  const map = (count: number) => Object.fromEntries(list(count).map((cursor, index) => [`r${index}`, cursor]));

  it('has at most 1,100 cursors in all, with those of other operations', async () => {
    expect(await closeOf({ a: list(600), b: map(499), c: longestCursor })).toBeUndefined();
    const reason = 'live.seen has 1101 cursors: at most 1100 are allowed';
    expect(await closeOf({ a: list(600), b: map(500), c: longestCursor })).toEqual({ code: 4400, reason });
  });

  it('has cursors of at most 200 characters', async () => {
    const reason = 'live.seen has a cursor of 201 characters: at most 200 are allowed';
    expect(await closeOf({ a: ['c', 'c'.repeat(201)] })).toEqual({ code: 4400, reason });
  });

  it('is not taken by the events of one room, unless it is one cursor', async () => {
    const bob = await postroom.signUp('Bob');
    const room = await postroom.createRoom(bob, 'lobby');
    const cursor = await postroom.cursorOf(room);
    await postroom.createPost(bob, room, 'one');
    const query = `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { title } } } }`;
    const init = { live: { seen: { one: { [room]: cursor }, two: [cursor, cursor] } } };
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
    const { data } = await socket.subscribe('one', query).results.next();
    expect(data.roomEvents.post.title).toBe('one');
    expect(await socket.subscribe('two', query).refused).toMatchObject([{ extensions: { code: 'CURSOR_INVALID' } }]);
  });
});

it('others add a user to rooms up to 900; the user can join more', async () => {
  const [bob, eve] = [await postroom.signUp('Bob'), await postroom.signUp('Eve')];
  writeRooms(bob, 899);
  const rooms = [await postroom.createRoom(eve, 'room 900'), await postroom.createRoom(eve, 'room 901')];
  const add = 'mutation ($input: AddRoomMemberInput!) { addRoomMember(input: $input) { room { id } } }';
  const [added, refused, repeated] = [
    await postroom.send(add, { input: { room: rooms[0], user: bob.id } }, eve.token),
    await postroom.send(add, { input: { room: rooms[1], user: bob.id } }, eve.token),
    await postroom.send(add, { input: { room: rooms[0], user: bob.id } }, eve.token),
  ];
  expect([added.code, refused.code, repeated.code]).toEqual([undefined, 'FORBIDDEN', undefined]);
  expect(refused.errors?.[0]?.message).toBe('The user is a member of 900 rooms: only the user can join more.');
  await change(postroom, 'joinRoom', bob, rooms[1] ?? '');
  expect(Object.keys((await InboxStream.open(postroom, bob)).cursors)).toHaveLength(901);
});

it('after has at most 2,000 cursors', async () => {
  const bob = await postroom.signUp('Bob');
  const room = await postroom.createRoom(bob, `room of ${bob.id}`);
  const cursor = await postroom.cursorOf(room);
  const list = (count: number) => Array.from({ length: count }, () => cursor);
  await InboxStream.open(postroom, bob, { after: list(2_000) });
  const refused = await refusalOf(postroom, bob, { after: list(2_001) });
  const details = [{ field: 'after', issue: 'too_long' }];
  expect(refused.extensions).toMatchObject({ code: 'VALIDATION_ERROR', details });
});

it('a client that reads nothing for a while receives all events of all rooms when it reads again', async () => {
  const bob = await postroom.signUp('Bob');
  writeRooms(bob, 20);
  // More than the buffers of the sockets hold.
  const body = '😀'.repeat(20_000);
  const postsEach = 8;
  const query =
    'subscription { inbox { __typename room { id name } cursor ... on PostCreated { post { title body } } } }';
  const slow = await InboxStream.open(postroom, bob, { query });
  const rooms = Object.keys(slow.cursors);
  slow.socket.rawSocket.pause();
  for (let number = 0; number < postsEach; number += 1) {
    await Promise.all(rooms.map((room) => postroom.createPost(bob, room, `post ${number}`, body)));
  }
  slow.socket.rawSocket.resume();
  const numbers = new Map(rooms.map((room): [string, number] => [room, 0]));
  for (let count = 0; count < postsEach * rooms.length; count += 1) {
    const { room, post } = await slow.next();
    const number = numbers.get(room.id) ?? Number.NaN;
    expect(post?.title).toBe(`post ${number}`);
    numbers.set(room.id, number + 1);
  }
});
