import { expect, it } from 'vitest';
import { EventStream, streamForms } from '../../support/clients/event-stream.ts';
import { untilCounts } from '../../support/engine/metrics.ts';
import { firstSeq, seqOf, seqsBetween } from '../../support/rooms/cursors.ts';
import { fill, follow, openRoomFixture } from '../../support/server/room-fixture.ts';

it.each(
  streamForms,
)('a stream over %s whose client does not read is ended, and other streams receive every event', async (_, form) => {
  const hall = await openRoomFixture({ STALL_SECONDS: '1' });
  const { postroom, query } = hall;
  const stalled = await EventStream.open(postroom.graphqlUrl, query, form);
  const neighbour = await EventStream.open(postroom.graphqlUrl, query, form);
  stalled.response.socket.pause();
  await fill(hall);
  await untilCounts(postroom, { subscribers: 1 });
  await neighbour.take(({ id }) => seqOf(id ?? '') === firstSeq + 1_000);
  expect(neighbour.received.slice(1).map(({ id }) => seqOf(id ?? ''))).toEqual(seqsBetween(firstSeq, firstSeq + 1_000));
});

it.each(
  streamForms,
)('a stream over %s sends heartbeats while there are no events, and none after its end', async (_, form) => {
  const hall = await openRoomFixture({});
  const { postroom, ada, query, room } = hall;
  const unread = await EventStream.open(postroom.graphqlUrl, query, form);
  unread.response.socket.pause();
  await fill(hall);
  await postroom.ask('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id: room }, ada.token);
  // The client has not read the end of the stream yet. When a later stream sends its first heartbeat, a heartbeat of
  // the ended stream would also have been due.
  const later = await EventStream.open(postroom.graphqlUrl, follow(await postroom.createRoom(ada, 'quiet')), form);
  await expect.poll(() => later.heartbeatCount, { timeout: 40_000 }).toBe(1);
  unread.response.socket.resume();
  await unread.closed;
  expect(unread.received.slice(-2)).toMatchObject([
    { event: 'next', data: { errors: [{ extensions: { code: 'ROOM_DELETED' } }] } },
    { event: 'complete' },
  ]);
  expect(unread.heartbeatCount).toBe(0);
  expect(postroom.log).toEqual([]);
});
