import { expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { breakTable } from '../support/database/test-database.ts';
import { nothingLeft, readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { untilCompared } from '../support/rooms/heads.ts';
import { createLateBus } from '../support/rooms/late-bus.ts';
import { createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Person, type Postroom, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { advanceTime, pollWhileTimePasses, withVirtualTimers } from '../support/server/virtual-timers.ts';

const postCount = 1_000;
const pollOptions = { interval: 5 };
const feedFailed = 'the live feed failed, and tries again';

const follow = (room: string, after?: string) =>
  `subscription { roomEvents(room: "${room}"${after === undefined ? '' : `, after: "${after}"`}) {
    cursor ... on PostCreated { post { body } }
  } }`;
const seqsOf = (socket: ProtocolSocket) => socket.nexts('1').map(({ data }) => seqOf(data.roomEvents.cursor));
const codes = (code: string) => [{ extensions: { code } }];
/** A bus of a test does not reach other nodes. */
const nothingLeftOnOwnBus = { ...nothingLeft, bus_listeners: 1 };

/** The server compares the heads of rooms with the log when the test lets time pass. */
function launchOnDeafBus(file: string): Promise<Postroom> {
  const settings = { DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'debug' };
  return withVirtualTimers(() => launchForTest(settings, { bus: createUnreliableBus('losesAll') }));
}

/** Creates a room with 20 MB of posts, more than socket buffers hold; another server must read them from the log. */
async function fillRoom(postroom: Postroom): Promise<{ ada: Person; room: string; start: string }> {
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'full');
  const start = await postroom.cursorOf(room);
  await makePosts(postroom, { author: ada, room, count: postCount, bytes: 20_000 });
  return { ada, room, start };
}

/** Two servers on one database, and a subscriber of the first that stops reading before it has received all events. */
async function pauseReplay(settings: Settings) {
  const [postroom, other] = await Promise.all([launchForTest(settings), launchForTest(settings)]);
  const { ada, room, start } = await fillRoom(other);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.subscribe('1', follow(room, start));
  await socket.take(({ type }) => type === 'next');
  socket.rawSocket.pause();
  return { postroom, other, ada, room, socket };
}

it.each([
  'roomEvents',
  'roomMembers',
])('a database whose %s cannot be read for a while costs no event and no stream', async (table) => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await launchOnDeafBus(file);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hidden');
  const hide = 'mutation ($id: ID!) { updateRoom(input: { id: $id, visibility: PRIVATE }) { room { id } } }';
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
  const from = seqOf(await socket.follow('1', follow(room)));
  await postroom.createPost(ada, room, 'one');
  await postroom.ask(hide, { id: room }, ada.token);
  await postroom.createPost(ada, room, 'three');
  const mend = breakTable(file, table);
  advanceTime(1_500);
  await expect.poll(() => postroom.log.filter(({ msg }) => msg === feedFailed).length, pollOptions).toBeGreaterThan(0);
  expect(seqsOf(socket).length).toBeLessThan(3);
  mend();
  await pollWhileTimePasses(() => seqsOf(socket).length).toBeGreaterThanOrEqual(3);
  expect(seqsOf(socket)).toEqual(seqsBetween(from, from + 3));
  expect(socket.received.filter(({ type }) => type === 'error')).toEqual([]);
  socket.webSocket.close();
  await untilCounts(postroom, nothingLeftOnOwnBus);
});

it('a post that cannot be read for a while is delivered once, when it can be read', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await launchOnDeafBus(file);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'patient');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('1', `subscription { postAdded(room: "${room}") { title } }`);
  await postroom.createPost(ada, room, 'one');
  await postroom.createPost(ada, room, 'two');
  const mend = breakTable(file, 'posts');
  advanceTime(1_500);
  await expect.poll(() => postroom.log.filter(({ msg }) => msg === feedFailed).length, pollOptions).toBeGreaterThan(0);
  expect(socket.nexts('1')).toEqual([]);
  mend();
  const titles = () => socket.nexts('1').map(({ data }) => data.postAdded.title);
  await pollWhileTimePasses(() => titles().length).toBeGreaterThanOrEqual(2);
  await postroom.createPost(ada, room, 'three');
  await pollWhileTimePasses(() => titles().length).toBeGreaterThanOrEqual(3);
  expect(titles()).toEqual(['one', 'two', 'three']);
});

it('a socket whose next events cannot be read is closed with 1013, and can resume from its position', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const { postroom, other, ada, room, socket } = await pauseReplay(settings);
  const mend = breakTable(file, 'roomEvents');
  socket.rawSocket.resume();
  expect((await socket.closed).code).toBe(1013);
  expect(socket.received.filter(({ type }) => type === 'error' || type === 'complete')).toEqual([]);
  mend();
  const seen = seqsOf(socket);
  expect(seen).toEqual(seqsBetween(firstSeq, firstSeq + seen.length));
  const again = await ProtocolSocket.open(postroom.webSocketUrl);
  again.subscribe('1', follow(room, socket.nexts('1').at(-1).data.roomEvents.cursor));
  await other.createPost(ada, room, 'the last');
  await expect.poll(() => seqsOf(again).at(-1), pollOptions).toBe(firstSeq + postCount + 1);
  expect([...seen, ...seqsOf(again)]).toEqual(seqsBetween(firstSeq, firstSeq + postCount + 1));
});

it('an event stream whose next events cannot be read ends without complete, so that its client connects again', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const [postroom, other] = [
    await launchForTest({ DATABASE_URL: `sqlite:${file}` }),
    await launchForTest({ DATABASE_URL: `sqlite:${file}` }),
  ];
  const { room, start } = await fillRoom(other);
  const stream = await EventStream.open(postroom.graphqlUrl, follow(room, start));
  await stream.results.next();
  stream.response.pause();
  const mend = breakTable(file, 'roomEvents');
  stream.response.resume();
  await stream.closed;
  mend();
  expect(stream.response.complete).toBe(true);
  expect(stream.received.filter(({ event, data }) => event === 'complete' || data?.errors)).toEqual([]);
  const last = stream.received.findLast(({ data }) => data?.data);
  const resumed = await EventStream.open(postroom.graphqlUrl, follow(room), { 'last-event-id': last?.id ?? '' });
  await expect.poll(() => seqOf(resumed.received.at(-1)?.id ?? ''), pollOptions).toBe(firstSeq + postCount);
  const seqs = [stream, resumed].flatMap(({ received }) =>
    received.flatMap(({ id, data }) => (data?.data && id ? [seqOf(id)] : [])),
  );
  expect(seqs).toEqual(seqsBetween(firstSeq, firstSeq + postCount));
});

it('a subscription fails if the database cannot be read when its room is opened, and leaves no resource', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'closed');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const mend = breakTable(file, 'roomEvents');
  for (const id of ['a', 'b', 'c']) socket.subscribe(id, follow(room));
  for (const _ of ['a', 'b', 'c']) {
    const { payload } = await socket.take(({ type }) => type === 'error');
    expect(payload).toMatchObject(codes('INTERNAL_SERVER_ERROR'));
  }
  await untilCounts(postroom, { ...nothingLeft, websockets: 1 });
  mend();
  const from = seqOf(await socket.follow('1', follow(room)));
  await postroom.createPost(ada, room, 'again');
  await expect.poll(() => seqsOf(socket), pollOptions).toEqual([from + 1]);
});

it('a room that another process deletes ends the stream of a subscriber that still has events to receive', async () => {
  const file = `${scratchFolder()}/postroom.db`;
  const settings = { DATABASE_URL: `sqlite:${file}`, LOG_LEVEL: 'debug' };
  const { postroom, other, ada, room, socket } = await pauseReplay(settings);
  await untilCompared(postroom);
  await other.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, ada.token);
  socket.rawSocket.resume();
  const { payload } = await socket.take(({ type }) => type === 'error');
  expect(payload).toMatchObject(codes('ROOM_DELETED'));
  expect(seqsOf(socket)).toEqual(seqsBetween(firstSeq, firstSeq + seqsOf(socket).length));
  await untilCounts(postroom, { ...nothingLeft, websockets: 1 });
});

it('a bus that does not answer delays no one, and no resource is left after the subscribers that waited', async () => {
  const postroom = await launchForTest({ OPERATION_TIMEOUT_MS: '500' }, { bus: createLateBus() });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'silent');
  const init = { authorization: `Bearer ${ada.token}` };
  const refused = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  refused.subscribe('1', follow(room));
  refused.subscribe('2', `mutation { updateUser(input: { id: "${ada.id}", name: "Ada L." }) { user { name } } }`);
  const { payload } = await refused.take(({ id }) => id === '2');
  expect(payload).toEqual({ data: { updateUser: { user: { name: 'Ada L.' } } } });
  expect((await refused.closed).code).toBe(1013);
  expect(refused.received.filter(({ id }) => id === '1')).toEqual([]);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' };
  const body = JSON.stringify({ query: follow(room) });
  expect((await fetch(postroom.graphqlUrl, { method: 'POST', headers, body })).status).toBe(503);
  // These subscribers leave before the bus answers.
  socket.subscribe('2', follow(room));
  socket.send({ type: 'complete', id: '2' });
  const signal = AbortSignal.timeout(100);
  await expect(fetch(postroom.graphqlUrl, { method: 'POST', headers, body, signal })).rejects.toThrow();
  await socket.settle();
  expect(await readMetrics(postroom)).toMatchObject({ feeds: 1, subscribers: 0 });
  await postroom.createPost(ada, room, 'at last');
  await untilCounts(postroom, { ...nothingLeftOnOwnBus, websockets: 1 });
  expect(postroom.log).toEqual([]);
});
