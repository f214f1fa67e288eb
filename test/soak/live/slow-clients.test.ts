import { expect, it, onTestFinished } from 'vitest';
import { EventStream } from '../../support/clients/event-stream.ts';
import { createFaultProxy, type FaultProxy } from '../../support/clients/fault-proxy.ts';
import { FrameReader } from '../../support/clients/frame-reader.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { untilCounts } from '../../support/engine/metrics.ts';
import { firstSeq, seqOf, seqsBetween } from '../../support/rooms/cursors.ts';
import { fill, follow, openRoomFixture, type RoomFixture } from '../../support/server/room-fixture.ts';

async function proxyTo({ postroom }: RoomFixture): Promise<FaultProxy> {
  const proxy = await createFaultProxy(postroom.url);
  onTestFinished(() => proxy.close());
  return proxy;
}

const seqsIn = (socket: ProtocolSocket, id: string) =>
  socket.nexts(id).map(({ data }) => seqOf(data.roomEvents.cursor));

it('a client that stops reading is closed with 1013, even if it keeps writing, and other clients receive every event', async () => {
  const hall = await openRoomFixture({ STALL_SECONDS: '1' });
  const { postroom, query } = hall;
  const neighbour = await FrameReader.open(postroom.webSocketUrl, query);
  const stalled = await ProtocolSocket.open(postroom.webSocketUrl);
  await stalled.follow('1', query);
  stalled.rawSocket.pause();
  const writing = setInterval(() => stalled.send({ type: 'complete', id: 'none' }), 100);
  onTestFinished(() => clearInterval(writing));
  const filling = fill(hall);
  // The server has closed the socket, but the client does not receive the close frame until it reads. The client must
  // read soon: the server terminates a connection that does not complete the closing handshake.
  await untilCounts(postroom, { subscribers: 1 });
  stalled.rawSocket.resume();
  expect(await stalled.closed).toEqual({ code: 1013, reason: 'Stalled' });
  await filling;
  await neighbour.reached(1_000);
  expect(seqsIn(stalled, '1')).toEqual(seqsBetween(firstSeq, firstSeq + seqsIn(stalled, '1').length));
  await fill(hall, 25);
  await neighbour.reached(1_025);
  expect(neighbour).toMatchObject({ count: 1_025, isInOrder: true });
  await untilCounts(postroom, { subscribers: 1, websockets: 1 });
});

it('a client that neither reads nor answers pings is terminated, whether or not it has anything to read', async () => {
  const hall = await openRoomFixture({ STALL_SECONDS: '1' });
  const { postroom, query } = hall;
  const proxy = await proxyTo(hall);
  const throughProxy = proxy.url.replace('http', 'ws').replace(/\/?$/, '/graphql');
  const neighbour = await FrameReader.open(postroom.webSocketUrl, query);
  const idle = await ProtocolSocket.open(throughProxy);
  const busy = await FrameReader.open(throughProxy, query);
  proxy.freeze();
  await fill(hall);
  await untilCounts(postroom, { subscribers: 1, websockets: 1 });
  expect([idle.webSocket.readyState, busy.socket.destroyed]).toEqual([1, false]);
  await neighbour.reached(1_000);
  expect(neighbour).toMatchObject({ count: 1_000, isInOrder: true });
});

it('a client that sends requests but reads no answer is disconnected', async () => {
  const { postroom } = await openRoomFixture({ STALL_SECONDS: '1', LIMIT_MESSAGES: '100000' });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.rawSocket.pause();
  const filling = 'x'.repeat(200_000);
  for (let index = 0; index < 500; index += 1) socket.send({ type: 'ping', payload: { filling } });
  await untilCounts(postroom, { websockets: 0 });
});

it('a client that reads slowly is not closed', async () => {
  const hall = await openRoomFixture({ STALL_SECONDS: '2' });
  const proxy = await proxyTo(hall);
  const slow = await FrameReader.open(proxy.url.replace('http', 'ws').replace(/\/?$/, '/graphql'), hall.query);
  proxy.throttle(1_500_000);
  await fill(hall);
  await slow.reached(1_000);
  expect(slow).toMatchObject({ count: 1_000, isInOrder: true, socket: { destroyed: false } });
});

it('a socket is pinged, and stays open if its client answers', async () => {
  const { postroom } = await openRoomFixture({ STALL_SECONDS: '1' });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  // The server sends four pings per STALL_SECONDS, so that twelve pings take three times STALL_SECONDS.
  for (let count = 0; count < 12; count += 1) await new Promise((ping) => socket.webSocket.once('ping', ping));
  await socket.settle();
});

it('a subscriber that falls too far behind receives SLOW_CONSUMER with the current cursor, and the socket stays open', async () => {
  const hall = await openRoomFixture({ EVENT_RETENTION_COUNT: '100', STALL_SECONDS: '600' });
  const { postroom, ada, room, query } = hall;
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const stream = await EventStream.open(postroom.graphqlUrl, query);
  const neighbour = await FrameReader.open(postroom.webSocketUrl, query);
  await socket.follow('1', query);
  socket.rawSocket.pause();
  stream.response.socket.pause();
  await fill(hall, 1_500);
  await neighbour.reached(1_500);
  expect(neighbour.isInOrder).toBe(true);
  const now = await hall.postroom.cursorOf(hall.room);
  socket.rawSocket.resume();
  stream.response.socket.resume();
  const slow = { extensions: { code: 'SLOW_CONSUMER', live: { cursor: now } } };
  const told = await socket.take(({ type }) => type !== 'next');
  expect(told).toMatchObject({ type: 'error', id: '1', payload: [slow] });
  // No event is missing before the position at which the subscription ended.
  const seqs = seqsIn(socket, '1');
  expect(seqs).toEqual(seqsBetween(firstSeq, firstSeq + seqs.length));
  expect(seqs.length).toBeLessThan(1_400);
  const last = await stream.take(({ data }) => data?.errors);
  expect(last).toMatchObject({ event: 'next', data: { errors: [slow] } });
  expect(await stream.take()).toMatchObject({ event: 'complete' });
  // The client resumes from the cursor in the error, on the same socket.
  await socket.follow('2', follow(room, told.payload[0].extensions.live.cursor));
  await postroom.createPost(ada, room, 'here again');
  const { payload } = await socket.take(({ id }) => id === '2');
  expect(payload.data.roomEvents.post.title).toBe('here again');
  expect(seqOf(payload.data.roomEvents.cursor)).toBe(firstSeq + 1_501);
});

it('a subscriber of few events does not fall behind because of the events that it does not receive', async () => {
  const hall = await openRoomFixture({ EVENT_RETENTION_COUNT: '100', STALL_SECONDS: '600' });
  const { postroom, ada, query } = hall;
  const quiet = await postroom.createRoom(ada, 'quiet');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.follow('busy', query);
  await socket.follow('quiet', `subscription { postAdded(room: "${quiet}") { title } }`);
  const id = await postroom.createPost(ada, quiet, 'first');
  await socket.take(({ type }) => type === 'next');
  const change = 'mutation ($id: ID!) { updatePost(input: { id: $id, body: "again" }) { post { id } } }';
  for (let index = 0; index < 150; index += 1) await postroom.ask(change, { id }, ada.token);
  // The events of the busy room fill the socket's buffer before the next post in the quiet room.
  socket.rawSocket.pause();
  await fill(hall);
  await postroom.createPost(ada, quiet, 'second');
  socket.rawSocket.resume();
  const message = await socket.take((message) => message.id === 'quiet');
  expect(message).toMatchObject({ type: 'next', payload: { data: { postAdded: { title: 'second' } } } });
});
