import { expect, it } from 'vitest';
import { EventStream } from '../../support/clients/event-stream.ts';
import { FrameReader } from '../../support/clients/frame-reader.ts';
import { makePosts, memoryOf, peakMemoryOf } from '../../support/clients/load.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { firstSeq, seqOf, seqsBetween } from '../../support/rooms/cursors.ts';
import { launchProcessForTest, type Person, type PostroomProcess } from '../../support/server/postroom.ts';

const bytes = 10_000;
const settings = { STALL_SECONDS: '600', LIMIT_MESSAGES: '100000' };

interface RoomFixture {
  postroom: PostroomProcess;
  ada: Person;
  room: string;
}

async function openRoomFixture(): Promise<RoomFixture> {
  const postroom = await launchProcessForTest(settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  return { postroom, ada, room };
}

/** Readers with different values of `name` have different selections, so they share no encoded events. */
function follow({ room }: RoomFixture, name = 'kind'): string {
  return `subscription { roomEvents(room: "${room}") { cursor ${name}: __typename ... on PostCreated { post { body } } } }`;
}

function openReaders(hall: RoomFixture, count: number): Promise<FrameReader[]> {
  return Promise.all(Array.from({ length: count }, () => FrameReader.open(hall.postroom.webSocketUrl, follow(hall))));
}

async function expectAllInOrder(readers: readonly FrameReader[], count: number): Promise<void> {
  await Promise.all(readers.map((reader) => reader.reached(count)));
  for (const reader of readers) expect(reader).toMatchObject({ count, last: firstSeq + count, isInOrder: true });
}

it('clients that pause reading cost the server no memory, delay no other client, and miss no event', async () => {
  const count = 5_000;
  const peaks: number[] = [];
  for (const pausedCount of [0, 3]) {
    const hall = await openRoomFixture();
    const neighbours = await openReaders(hall, 50);
    const paused = await openReaders(hall, pausedCount);
    const streams = await Promise.all(
      paused.map((_, index) => EventStream.open(hall.postroom.graphqlUrl, follow(hall, `kind${index}`))),
    );
    for (const reader of paused) reader.pause();
    for (const { response } of streams) response.socket.pause();
    await makePosts(hall.postroom, { author: hall.ada, room: hall.room, count, bytes });
    await expectAllInOrder(neighbours, count);
    peaks.push(peakMemoryOf(hall.postroom));
    // The paused readers are still connected, and the kernel's buffers do not hold all of their events.
    for (const reader of paused) expect(reader.count).toBe(0);
    for (const reader of paused) reader.resume();
    for (const { response } of streams) response.socket.resume();
    await expectAllInOrder(paused, count);
    for (const stream of streams) {
      await stream.take(({ id }) => seqOf(id ?? '') === firstSeq + count);
      expect(stream.received.slice(1).map(({ id }) => seqOf(id ?? ''))).toEqual(
        seqsBetween(firstSeq, firstSeq + count),
      );
    }
    expect(hall.postroom.log).toEqual([]);
    await hall.postroom.stop();
  }
  const [without = 0, withPaused = 0] = peaks;
  expect(withPaused - without).toBeLessThan(64);
});

it('a hundred clients that pause reading cost only the data that waits on their sockets', async () => {
  const [count, pausedCount] = [1_200, 100];
  const hall = await openRoomFixture();
  const [neighbour, ...paused] = await openReaders(hall, 1 + pausedCount);
  if (!neighbour) throw new Error('There is no neighbour.');
  // The first posts warm up the process, so that any later growth comes from the paused readers.
  await makePosts(hall.postroom, { author: hall.ada, room: hall.room, count: 400, bytes });
  await expectAllInOrder([neighbour, ...paused], 400);
  for (const reader of paused) reader.pause();
  const before = peakMemoryOf(hall.postroom);
  await makePosts(hall.postroom, { author: hall.ada, room: hall.room, count: count - 400, bytes });
  await expectAllInOrder([neighbour], count);
  // Separate copies of 800 events for each reader would take 800 MB.
  expect(peakMemoryOf(hall.postroom) - before).toBeLessThan(128);
  for (const reader of paused) reader.resume();
  await expectAllInOrder(paused, count);
  expect(hall.postroom.log).toEqual([]);
});

it('the server stops reading from a client that does not read its answers, and the client receives them all in the end', async () => {
  const hall = await openRoomFixture();
  const { postroom } = hall;
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const neighbour = await ProtocolSocket.open(postroom.webSocketUrl);
  const before = memoryOf(postroom);
  socket.rawSocket.pause();
  const count = 5_000;
  const filling = 'x'.repeat(16_000);
  for (let index = 0; index < count; index += 1) socket.send({ type: 'ping', payload: { index, filling } });
  socket.subscribe('query', '{ __typename }');
  await neighbour.follow('1', follow(hall));
  for (let before = -1; before !== socket.webSocket.bufferedAmount; ) {
    before = socket.webSocket.bufferedAmount;
    for (let time = 0; time < 50; time += 1) await neighbour.settle();
  }
  // Most of the 80 MB is still buffered in the test's process.
  expect(socket.webSocket.bufferedAmount).toBeGreaterThan(50_000_000);
  expect(memoryOf(postroom) - before).toBeLessThan(64);
  socket.rawSocket.resume();
  for (let index = 0; index < count; index += 1) {
    const { type, payload } = await socket.take();
    expect([type, payload.index]).toEqual(['pong', index]);
  }
  expect(await socket.take()).toMatchObject({ type: 'next', id: 'query' });
});
