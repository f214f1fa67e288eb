import { expect, it } from 'vitest';
import { type Message, ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { breakColumn } from '../support/database/test-database.ts';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';
import { launchForTest, scratchFolder } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';
import { pollWhileTimePasses, withVirtualTimers } from '../support/server/virtual-timers.ts';

/* Which events are of the past, as docs/resume.md describes it for clients over a WebSocket. */

const server = shareServer();
const roomQuery = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { ... on PostCreated { post { title } } }
}`;
const inboxQuery = `subscription ($after: [String!]) { inbox(after: $after) { ... on PostCreated { post { title } } } }`;

async function openRoom(name: string) {
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, name);
  const cursor = await postroom.cursorOf(room);
  const init = { authorization: `Bearer ${ada.token}` };
  return { postroom, ada, room, cursor, init, post: (title: string) => postroom.createPost(ada, room, title) };
}

/** A word for each message about a subscription. */
function describeMessages({ received }: ProtocolSocket): string[] {
  return received.flatMap(({ type, payload }: Message) => {
    const { roomEvents, inbox } = payload?.data ?? {};
    if (type === 'next') return (roomEvents ?? inbox).post.title;
    if (payload?.replays) return `${Object.keys(payload.live)} starts, replays ${payload.replays}`;
    if (payload?.caughtUp) return `caught up ${payload.caughtUp}`;
    return payload?.live ? `${Object.keys(payload.live)} starts` : [];
  });
}

it('a subscription with a cursor has `replays` at its start, and `caughtUp` after the events of the past', async () => {
  const { postroom, room, cursor, init, post } = await openRoom('past');
  for (const title of ['one', 'two']) await post(title);
  const bySeen = await ProtocolSocket.open(postroom.webSocketUrl, { init: { ...init, live: { seen: { a: cursor } } } });
  const byAfter = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  bySeen.subscribe('a', roomQuery, { room });
  byAfter.subscribe('a', roomQuery, { room, after: cursor });
  for (const socket of [bySeen, byAfter]) await socket.take(({ payload }) => payload?.caughtUp);
  await post('three');
  for (const socket of [bySeen, byAfter]) {
    await socket.take(({ type }) => type === 'next');
    expect(describeMessages(socket)).toEqual(['a starts, replays a', 'one', 'two', 'caught up a', 'three']);
  }
});

it('a subscription that has missed nothing is caught up at once, and one without a cursor has no past', async () => {
  const { postroom, room, cursor, init } = await openRoom('no past');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  socket.subscribe('a', roomQuery, { room, after: cursor });
  await socket.take(({ payload }) => payload?.caughtUp);
  await socket.follow('b', roomQuery, { room });
  expect(describeMessages(socket)).toEqual(['a starts, replays a', 'caught up a', 'b starts']);
});

it('an inbox is caught up when all its rooms are', async () => {
  const { postroom, ada, room, cursor, init, post } = await openRoom('hall');
  const attic = await postroom.createRoom(ada, 'attic');
  const after = [cursor, await postroom.cursorOf(attic)];
  for (const title of ['one', 'two']) await post(title);
  await postroom.createPost(ada, attic, 'three');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  socket.subscribe('inbox', inboxQuery, { after });
  await socket.take(({ payload }) => payload?.caughtUp);
  const bob = await postroom.signUp('Bob');
  await change(postroom, 'joinRoom', bob, room);
  await socket.take(({ type }) => type === 'next');
  const messages = socket.received.filter(({ type, payload }) => type === 'next' || payload?.live || payload?.caughtUp);
  expect(messages.map(({ type }) => type)).toEqual(['ping', 'next', 'next', 'next', 'ping', 'next']);
  expect(messages[0]?.payload.replays).toEqual(['inbox']);
  expect(messages[4]?.payload.caughtUp).toEqual(['inbox']);
});

it('an inbox is not caught up while what happened to its user cannot be read', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await withVirtualTimers(() => launchForTest({ DATABASE_URL: `sqlite:${file}` }));
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const hall = await postroom.createRoom(ada, 'hall');
  await change(postroom, 'joinRoom', bob, hall);
  const { seen, socket: first } = await InboxStream.open(postroom, bob);
  await first.close();
  await postroom.createPost(ada, hall, 'while he was away');
  await change(postroom, 'leaveRoom', bob, hall);
  // An event of Bob's log names the hall, whose log cannot be read.
  const mend = breakColumn(file, 'roomEvents', 'actorId');
  const { socket } = await InboxStream.open(postroom, bob, { seen });
  await expect.poll(() => postroom.log).toMatchObject([{ msg: 'the live feed failed, and tries again' }]);
  await socket.settle();
  mend();
  const isLast = ({ payload }: Message) => payload?.caughtUp !== undefined;
  await pollWhileTimePasses(() => socket.received.some(isLast)).toBe(true);
  const messages = socket.received.filter((message) => message.type === 'next' || isLast(message));
  expect(messages.map(({ payload }) => payload.data?.inbox.__typename ?? 'caught up')).toEqual([
    'PostCreated',
    'MemberLeft',
    'caught up',
  ]);
});
