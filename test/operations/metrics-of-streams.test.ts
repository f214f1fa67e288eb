import { expect, it } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readMetrics, readSeries } from '../support/engine/metrics.ts';
import { launchForTest } from '../support/server/postroom.ts';

const query = 'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }';

it('after any run as many subscriptions have started as have ended and are open, and each event is delivered once per follower', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const start = await postroom.cursorOf(room);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  for (const id of ['1', '2', '3']) await socket.follow(id, query, { room });
  const streams = await Promise.all([1, 2].map(() => EventStream.open(postroom.graphqlUrl, query, {}, { room })));
  streams.push(await EventStream.open(postroom.graphqlUrl, query, multipartHeaders, { room }));
  const events = 4;
  for (let count = 1; count <= events; count += 1) await postroom.createPost(ada, room, `post ${count}`);
  await expect.poll(() => socket.nexts('3')).toHaveLength(events);
  for (const stream of streams) await expect.poll(() => stream.results.all).toHaveLength(events);

  await expect
    .poll(() => readMetrics(postroom))
    .toMatchObject({
      deliveries_total: events * 6,
      replayed_events_total: 0,
      delivery_lag_seconds_count: events * 6,
      // The room's owner joins it, which also changes the owner's rooms.
      'bus_messages_total{result="published"}': 2 + events,
    });

  // One stream ends in each way: completed, disconnected, refused a cursor, resumed, and with its room.
  socket.complete('1');
  streams[0]?.close();
  const resumed = await ProtocolSocket.open(postroom.webSocketUrl);
  await resumed.follow('resumed', query, { room, after: start });
  await expect.poll(() => resumed.nexts('resumed')).toHaveLength(events);
  await resumed.subscribe('bad', query, { room, after: 'x' }).refused;
  await resumed.close();
  await expect
    .poll(() => readSeries(postroom, 'postroom_subscriptions'))
    .toEqual({ sse: 1, multipart: 1, websocket: 2 });
  await postroom.ask(`mutation { deleteRoom(input: { id: "${room}" }) { room { id } } }`, {}, ada.token);
  await expect.poll(() => readSeries(postroom, 'postroom_subscriptions')).toEqual({});

  expect(await readSeries(postroom, 'postroom_subscriptions_started_total')).toEqual({
    sse: 2,
    multipart: 1,
    websocket: 4,
  });
  expect(await readSeries(postroom, 'postroom_subscriptions_ended_total')).toEqual({
    'sse client': 1,
    'sse ROOM_DELETED': 1,
    'multipart ROOM_DELETED': 1,
    'websocket client': 2,
    'websocket ROOM_DELETED': 2,
  });
  expect(await readSeries(postroom, 'postroom_resumes_total')).toEqual({ OK: 1, CURSOR_INVALID: 1 });
  expect(await readMetrics(postroom)).toMatchObject({ deliveries_total: events * 6, replayed_events_total: events });
});

/** Four bytes each, so that few posts fill the buffers of the system. */
const longBody = '🙂'.repeat(20_000);

it('a subscription whose client does not read is a slow consumer until it reads', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const bodies = 'subscription ($room: ID!) { roomEvents(room: $room) { ... on PostCreated { post { body } } } }';
  await socket.follow('1', bodies, { room });
  socket.rawSocket.pause();
  let posts = 0;
  const isSlow = async () => (await readMetrics(postroom))['slow_consumers'] === 1;
  while (!(await isSlow())) {
    await postroom.createPost(ada, room, 'long', longBody);
    posts += 1;
  }
  socket.rawSocket.resume();
  await expect.poll(() => socket.nexts('1')).toHaveLength(posts);
  await expect.poll(() => readMetrics(postroom)).toMatchObject({ slow_consumers: 0 });
});
