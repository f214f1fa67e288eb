import { beforeAll, describe, expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import { seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { createLateBus } from '../support/rooms/late-bus.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let postroom: Postroom;
let ada: Person;
let roomCount = 0;

const query = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { cursor ... on PostCreated { post { title } } }
}`;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
});

function createRoom(): Promise<string> {
  roomCount += 1;
  return postroom.createRoom(ada, `room ${roomCount}`);
}

/** Creates a room with posts `1`, `2`, …; `cursors[n]` is the cursor after post n, `cursors[0]` precedes all posts. */
async function createRoomWithPosts(count: number): Promise<{ room: string; cursors: string[] }> {
  const room = await createRoom();
  const cursors = [await postroom.cursorOf(room)];
  for (let number = 1; number <= count; number += 1) {
    await post(room, String(number));
    cursors.push(await postroom.cursorOf(room));
  }
  return { room, cursors };
}

function post(room: string, title: string): Promise<string> {
  return postroom.createPost(ada, room, title);
}

function open(payload?: unknown): Promise<ProtocolSocket> {
  return ProtocolSocket.open(postroom.webSocketUrl, { init: payload });
}

function titleOf({ data }: Result): string {
  return data.roomEvents.post.title;
}

describe('the position where a subscription goes live', () => {
  it('is sent in a ping before its first event, and the client can resume from it', async () => {
    const { room, cursors } = await createRoomWithPosts(3);
    const socket = await open();
    const { start } = socket.subscribe('1', query, { room });
    expect(await start).toBe(cursors[3]);
    await post(room, '4');
    const { results } = socket.subscribe('2', query, { room, after: await start });
    expect(titleOf(await results.next())).toBe('4');
  });

  it('is sent by an SSE stream as the id of a block without data', async () => {
    const { room, cursors } = await createRoomWithPosts(2);
    const stream = await EventStream.open(postroom.graphqlUrl, query, {}, { room });
    expect(stream.start).toBe(cursors[2]);
    expect(stream.results.all).toEqual([]);
  });

  it('is the one in `seen` if that contains the operation, whatever `after` contains', async () => {
    const { room, cursors } = await createRoomWithPosts(4);
    const socket = await open({ live: { seen: { resumed: cursors[3] } } });
    const { start, results } = socket.subscribe('resumed', query, { room, after: cursors[1] });
    expect(await start).toBe(cursors[3]);
    expect(titleOf(await results.next())).toBe('4');
    const other = socket.subscribe('other', query, { room, after: cursors[1] });
    expect(await other.start).toBe(cursors[1]);
  });

  it('is the one in `seen` only once: a new subscription with the same id starts at its own `after`', async () => {
    const { room, cursors } = await createRoomWithPosts(4);
    const socket = await open({ live: { seen: { resumed: cursors[3] } } });
    expect(await socket.subscribe('resumed', query, { room }).start).toBe(cursors[3]);
    socket.complete('resumed');
    expect(await socket.subscribe('resumed', query, { room, after: cursors[1] }).start).toBe(cursors[1]);
    socket.complete('resumed');
    expect(await socket.subscribe('resumed', query, { room }).start).toBe(cursors[4]);
  });

  it('is the one in `seen` only once, even if that subscription was refused', async () => {
    const { room, cursors } = await createRoomWithPosts(1);
    const socket = await open({ live: { seen: { resumed: 'garbage' } } });
    const [error] = await socket.subscribe('resumed', query, { room }).refused;
    expect(error?.extensions.code).toBe('CURSOR_INVALID');
    expect(await socket.subscribe('resumed', query, { room }).start).toBe(cursors[1]);
  });

  it('is not changed by a `seen` without a cursor of the operation', async () => {
    const { room, cursors } = await createRoomWithPosts(1);
    const payloads = [
      { live: null },
      { live: 'seen' },
      { live: {} },
      { live: { seen: null } },
      { live: { seen: [] } },
      { live: { seen: { 1: null, __proto__: cursors[0] } } },
      { live: [{ seen: { 1: cursors[0] } }] },
      { seen: { 1: cursors[0] } },
    ];
    for (const payload of payloads) {
      const socket = await open(payload);
      expect(await socket.subscribe('1', query, { room }).start).toBe(cursors[1]);
    }
  });

  it('is the one in Last-Event-ID, whatever `after` contains', async () => {
    const { room, cursors } = await createRoomWithPosts(4);
    const variables = { room, after: cursors[1] };
    const stream = await EventStream.open(postroom.graphqlUrl, query, { 'last-event-id': cursors[3] ?? '' }, variables);
    expect(stream.start).toBe(cursors[3]);
    expect(titleOf(await stream.results.next())).toBe('4');
    expect(stream.lastEventId).toBe(cursors[4]);
  });

  it('is the one in `after` if Last-Event-ID is empty', async () => {
    const { room, cursors } = await createRoomWithPosts(2);
    const variables = { room, after: cursors[1] };
    const stream = await EventStream.open(postroom.graphqlUrl, query, { 'last-event-id': '' }, variables);
    expect(stream.start).toBe(cursors[1]);
  });
});

describe('a group of subscribers that resume from different positions', () => {
  const fragment = 'fragment Titles on PostCreated { post { title } }';
  const queries = {
    'by a variable': query,
    'by a variable, with fragments': `subscription Resumed($room: ID!, $from: String) {
      roomEvents(room: $room, after: $from) { cursor ...Titles }
    } ${fragment}`,
  };

  for (const [how, query] of Object.entries(queries)) {
    it(`${how}, is shared by all of them`, async () => {
      const { room, cursors } = await createRoomWithPosts(3);
      const socket = await open();
      const before = await readMetrics(postroom);
      for (const [index, cursor] of cursors.entries()) {
        const { results } = socket.subscribe(String(index), query, { room, after: cursor, from: cursor });
        expect((await results.take(3 - index)).length).toBe(3 - index);
      }
      const grown = async () => ((await readMetrics(postroom))['subscribers'] ?? 0) - (before['subscribers'] ?? 0);
      await expect.poll(grown).toBe(cursors.length);
      const { groups = 0 } = await readMetrics(postroom);
      expect(groups - (before['groups'] ?? 0)).toBe(1);
    });
  }

  it('is not shared if the selection itself contains the position', async () => {
    const { room, cursors } = await createRoomWithPosts(2);
    const socket = await open();
    const before = await readMetrics(postroom);
    const query = `subscription ($room: ID!, $after: String) {
      roomEvents(room: $room, after: $after) { ...Members }
    } fragment Members on RoomEvent { room { members(after: $after) { nodes { id } } } }`;
    for (const [index, after] of cursors.entries()) {
      await socket.subscribe(String(index), query, { room, after }).start;
    }
    const { groups = 0 } = await readMetrics(postroom);
    expect(groups - (before['groups'] ?? 0)).toBe(cursors.length);
  });
});

describe('an event', () => {
  it('of one room is not delivered to a subscriber of another', async () => {
    const rooms = [await createRoom(), await createRoom(), await createRoom()];
    const socket = await open();
    const inline = (room: string) =>
      `subscription { roomEvents(room: "${room}") { cursor ... on PostCreated { post { title } } } }`;
    const operations = rooms.map((room, index) => [
      socket.subscribe(`variable ${index}`, query, { room }),
      socket.subscribe(`inline ${index}`, inline(room)),
      socket.subscribe(`added ${index}`, 'subscription ($room: ID!) { postAdded(room: $room) { title } }', { room }),
    ]);
    await Promise.all(operations.flat().map(({ start }) => start));
    const numbers = seqsBetween(0, 20);
    await Promise.all(
      rooms.map(async (room, index) => {
        for (const number of numbers) await post(room, `${index}: ${number}`);
      }),
    );
    for (const [index, ofRoom] of operations.entries()) {
      for (const { results } of ofRoom) {
        const taken = await results.take(numbers.length);
        const titles = taken.map(({ data }) => data.postAdded?.title ?? data.roomEvents.post.title);
        expect(titles).toEqual(numbers.map((number) => `${index}: ${number}`));
      }
    }
    // An event of another room would be delivered before the last event.
    await Promise.all(rooms.map((room) => post(room, 'last')));
    for (const { results } of operations.flat()) {
      const { data } = await results.next();
      expect(data.postAdded?.title ?? data.roomEvents.post.title).toBe('last');
    }
  });

  const createPost = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "at once" }) { post { id } } }';

  it('written on the same socket directly after the subscription is delivered once, whether or not the room had a subscriber', async () => {
    for (let round = 0; round < 20; round += 1) {
      const room = await createRoom();
      const socket = await open({ authorization: `Bearer ${ada.token}` });
      const cold = socket.subscribe('cold', query, { room });
      socket.subscribe('first', createPost, { room });
      expect(titleOf(await cold.results.next())).toBe('at once');
      const warm = socket.subscribe('warm', query, { room });
      socket.subscribe('second', createPost, { room });
      expect(titleOf(await warm.results.next())).toBe('at once');
      await post(room, 'last');
      expect(titleOf(await warm.results.next())).toBe('last');
      expect((await cold.results.take(2)).map(titleOf)).toEqual(['at once', 'last']);
    }
  });

  it('written by another client during a subscribe is delivered once, or is before the position where the subscription goes live', async () => {
    for (let round = 0; round < 20; round += 1) {
      const room = await createRoom();
      const socket = await open();
      const { start, results } = socket.subscribe('1', query, { room });
      const stream = EventStream.open(postroom.graphqlUrl, query, {}, { room });
      await Promise.all([post(room, 'a'), post(room, 'b'), post(room, 'c')]);
      const opened = await stream;
      await post(room, 'last');
      for (const reader of [{ start, results }, opened]) {
        const from = seqOf(await reader.start);
        const taken = await reader.results.take(4 - from);
        expect(taken.map(({ data }) => seqOf(data.roomEvents.cursor))).toEqual(seqsBetween(from, 4));
      }
    }
  });

  it('written after the subscription is delivered even if the bus is slow', async () => {
    const slow = await launchForTest({}, { bus: createLateBus() });
    const eve = await slow.signUp('Eve');
    const room = await slow.createRoom(eve, 'lobby');
    const socket = await ProtocolSocket.open(slow.webSocketUrl, { init: { authorization: `Bearer ${eve.token}` } });
    const { results } = socket.subscribe('1', query, { room });
    socket.subscribe('2', createPost, { room });
    expect(titleOf(await results.next())).toBe('at once');
    await slow.createPost(eve, room, 'last');
    expect(titleOf(await results.next())).toBe('last');
  });
});
