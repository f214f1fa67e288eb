// Runs on SQLite and on PostgreSQL.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { cursorsOf, firstSeq, forgeCursor, openCursor, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { anyText } from '../support/run/any-text.ts';
import { launchForTest, type Person, type Postroom, scratchFolder } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const query = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { cursor ... on PostCreated { post { title } } }
}`;
const postCount = 12;
const head = firstSeq + postCount;

async function createPosts(postroom: Postroom, author: Person, room: string, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) await postroom.createPost(author, room, `post ${number}`);
}

/** Subscribes, and returns the code of the refusal or the cursor at which the subscription went live. */
async function outcomeOf(socket: ProtocolSocket, id: string, variables: Record<string, unknown>): Promise<string> {
  const { start, refused } = socket.subscribe(id, query, variables);
  const outcome = await Promise.race([
    start,
    refused.then(([error]) => error?.extensions.code ?? ''),
    socket.closed.then(({ code }) => `closed with ${code}`),
  ]);
  socket.complete(id);
  return outcome;
}

/** The status, media type and code of a refused stream: with `after`, also of multipart, with Last-Event-ID, and by an EventSource. */
async function refusalsOf(postroom: Postroom, room: string, after: string): Promise<unknown[]> {
  const parameters = new URLSearchParams({ query, variables: JSON.stringify({ room }) });
  const eventSource = { accept: 'text/event-stream', 'last-event-id': after };
  const answers = await Promise.all([
    EventStream.open(postroom.graphqlUrl, query, {}, { room, after }),
    EventStream.open(postroom.graphqlUrl, query, multipartHeaders, { room, after }),
    EventStream.open(postroom.graphqlUrl, query, { 'last-event-id': after }, { room }),
  ]);
  const answer = await fetch(`${postroom.graphqlUrl}?${parameters}`, { headers: eventSource });
  const refusals = answers.map(({ status, response, refusal }) => ({
    status,
    type: response.headers['content-type'],
    code: refusal.errors[0]?.extensions.code,
  }));
  const { errors } = (await answer.json()) as { errors: { extensions: { code: string } }[] };
  const type = answer.headers.get('content-type');
  return [...refusals, { status: answer.status, type, code: errors[0]?.extensions.code }];
}

function refusal(status: number, code: string) {
  return { status, code, type: expect.stringMatching(/^application\/(graphql-response\+)?json/) };
}

describe('a cursor', () => {
  const server = shareServer({ LIMIT_BODY_BYTES: '10000000', LIMIT_MESSAGES: '1000000' });
  let postroom: Postroom;
  let room: string;
  let otherRoom: string;
  /** The cursors of the room, by sequence number. */
  let cursors: string[];

  beforeAll(async () => {
    postroom = server.postroom;
    const ada = await postroom.signUp('Ada');
    room = await postroom.createRoom(ada, 'lobby');
    otherRoom = await postroom.createRoom(ada, 'other');
    await createPosts(postroom, ada, room, postCount);
    await createPosts(postroom, ada, otherRoom, 3);
    cursors = await cursorsOf(postroom, room, head);
  });

  it('is the position after one event of its room, and the events that follow it are replayed', async () => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    for (let seq = 0; seq <= head; seq += 1) {
      const after = cursors[seq];
      const { start, results } = socket.subscribe(`from ${seq}`, query, { room, after });
      expect(await start).toBe(after);
      const replayed = await results.take(head - seq);
      expect(replayed.map(({ data }) => seqOf(data.roomEvents.cursor))).toEqual(seqsBetween(seq, head));
      expect(replayed.map(({ data }) => data.roomEvents.post?.title)).toEqual(
        seqsBetween(seq, head).map((number) => (number === firstSeq ? undefined : `post ${number - firstSeq}`)),
      );
      expect(replayed.map(({ extensions }) => extensions.live.cursor)).toEqual(
        replayed.map(({ data }) => data.roomEvents.cursor),
      );
    }
    await socket.close();
  });

  it('is accepted only exactly as it was given out, and a refusal leaves the socket open', async () => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const given = new Set(cursors);
    const whole = cursors[7] ?? '';
    const { mark } = openCursor(whole);
    const flipped = fc.nat(Buffer.from(whole, 'base64url').length * 8 - 1).map((bit) => {
      const bytes = Buffer.from(whole, 'base64url');
      bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      return bytes.toString('base64url');
    });
    const flippedText = fc.nat(whole.length * 7 - 1).map((bit) => {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(Math.floor(bit / 7)) ^ (1 << (bit % 7)), Math.floor(bit / 7));
      return bytes.toString('latin1');
    });
    const forged = fc
      .tuple(
        fc.constantFrom(mark, `A${mark.slice(1)}`, 'deadbeef', '00000000', '', `${mark}0`, 'nowhere!'),
        fc.oneof(
          fc.integer({ min: -2, max: head + 3 }).map(String),
          fc.constantFrom('', '07', '+7', ' 7', '7.0', '7e0', '0x7', '9007199254740993', '1'.repeat(40), 'NaN'),
        ),
        fc.constantFrom(room, otherRoom, room.toUpperCase(), `${room}.`, '', room.slice(0, -1)),
      )
      .map((parts) => forgeCursor(...parts));
    const framed = fc
      .tuple(fc.constantFrom('', ' ', '=', '\n', 'A', '\0'), fc.constantFrom('', ' ', '=', '\n', 'A', '\0'))
      .map(([before, behind]) => before + whole + behind);
    const cut = fc.nat(whole.length).map((length) => whole.slice(0, length));
    const any = fc.oneof(flipped, flippedText, forged, framed, cut, anyText(), fc.base64String());
    let count = 0;
    await fc.assert(
      fc.asyncProperty(any, async (after) => {
        count += 1;
        const outcome = await outcomeOf(socket, `property ${count}`, { room, after });
        const { mark, seq, roomId } = openCursor(after);
        const isOfRoom = roomId === room && /^[0-9a-f]{8}$/.test(mark) && seq >= 0 && seq < 1e15;
        const isWellFormed = forgeCursor(mark, seq, roomId) === after;
        const refused = isOfRoom && isWellFormed ? 'CURSOR_EXPIRED' : 'CURSOR_INVALID';
        expect(outcome).toBe(given.has(after) ? after : refused);
      }),
      { numRuns: 1_000 },
    );
    expect(await outcomeOf(socket, 'behind it all', { room, after: whole })).toBe(whole);
    await socket.close();
  });

  it('of another room, or of no room, is CURSOR_INVALID with 422 before a stream begins', async () => {
    const [, ofOtherRoom = ''] = await cursorsOf(postroom, otherRoom, 1);
    const bad = ['garbage', ofOtherRoom, '%00', '0'];
    for (const after of bad) {
      const expected = refusal(422, 'CURSOR_INVALID');
      expect(await refusalsOf(postroom, room, after)).toEqual(Array(4).fill(expected));
    }
  });

  it('of an event that the room does not have is CURSOR_EXPIRED with 410 before a stream begins', async () => {
    const { mark } = openCursor(cursors[head] ?? '');
    const other = mark === 'deadbee0' ? 'deadbee1' : 'deadbee0';
    const absent = [
      forgeCursor(mark, head + 1, room),
      forgeCursor(mark, head + 1_000_000, room),
      ...seqsBetween(-1, head).map((seq) => forgeCursor(other, seq, room)),
    ];
    for (const after of absent) {
      const expected = refusal(410, 'CURSOR_EXPIRED');
      expect(await refusalsOf(postroom, room, after)).toEqual(Array(4).fill(expected));
    }
  });

  it('of five million characters is refused with a short message', async () => {
    const after = createHash('sha512').update('much').digest('hex').repeat(40_000);
    expect(after.length).toBeGreaterThan(5_000_000);
    const stream = await EventStream.open(postroom.graphqlUrl, query, {}, { room, after });
    const body = stream.refusal;
    expect(stream.status).toBe(422);
    expect(body.errors[0]?.extensions.code).toBe('VARIABLES_INVALID');
    expect(JSON.stringify(body).length).toBeLessThan(1_000);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    expect(await outcomeOf(socket, 'also', { room, after: after.slice(0, 200_000) })).toBe('VARIABLES_INVALID');
    expect(await outcomeOf(socket, 'less', { room, after: after.slice(0, 4_000) })).toBe('CURSOR_INVALID');
    expect(await outcomeOf(socket, 'next', { room })).toBe(await postroom.cursorOf(room));
    await socket.close();
  });

  it('of null is an absent cursor, and an empty string is an invalid one', async () => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    expect(await outcomeOf(socket, 'null', { room, after: null })).toBe(await postroom.cursorOf(room));
    expect(await outcomeOf(socket, 'empty', { room, after: '' })).toBe('CURSOR_INVALID');
    await socket.close();
  });
});

describe('a cursor that is too old', () => {
  /** Expects that each transport refuses the cursor, and that the error has a cursor to resume from. */
  async function expectExpired(postroom: Postroom, author: Person, room: string, after: string): Promise<void> {
    const expected = refusal(410, 'CURSOR_EXPIRED');
    expect(await refusalsOf(postroom, room, after)).toEqual(Array(4).fill(expected));
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { live: { seen: { resumed: after } } } });
    expect(await outcomeOf(socket, 'resumed', { room })).toBe('CURSOR_EXPIRED');
    const [error] = await socket.subscribe('expired', query, { room, after }).refused;
    const cursor = error?.extensions.live?.cursor;
    expect(cursor).toBe(await postroom.cursorOf(room));
    const { start, results } = socket.subscribe('again', query, { room, after: cursor });
    expect(await start).toBe(cursor);
    await postroom.createPost(author, room, 'behind it');
    const { data } = await results.next();
    expect(data.roomEvents.post.title).toBe('behind it');
    await socket.close();
  }

  async function expectTaken(postroom: Postroom, room: string, after: string): Promise<void> {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    expect(await outcomeOf(socket, 'taken', { room, after })).toBe(after);
    await socket.close();
  }

  /** Reads the cursors from the database file, because no stream delivers events that have expired. */
  function readCursors(file: string, room: string): string[] {
    const sql = 'select "seq", "mark" from "roomEvents" where "roomId" = ? order by "seq"';
    const rows = withDatabase(file, (database) => database.prepare(sql).all(room)) as { seq: number; mark: number }[];
    const start = forgeCursor('00000000', 0, room);
    return [start, ...rows.map(({ seq, mark }) => forgeCursor(mark.toString(16).padStart(8, '0'), seq, room))];
  }

  function countRows(file: string, room: string): unknown {
    const sql = 'select count(*) as count from "roomEvents" where "roomId" = ?';
    return withDatabase(file, (database) => database.prepare(sql).get(room)?.['count']);
  }

  it('by the number of events after it is CURSOR_EXPIRED, whether or not the events have been trimmed', async () => {
    const file = `${scratchFolder()}/postroom.db`;
    const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}`, EVENT_RETENTION_COUNT: '5' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    await createPosts(postroom, ada, room, postCount);
    expect(countRows(file, room)).toBe(head);
    const cursors = readCursors(file, room);
    await expectTaken(postroom, room, cursors[head - 5] ?? '');
    await expectExpired(postroom, ada, room, cursors[head - 6] ?? '');
  });

  it('by the age of the event after it is CURSOR_EXPIRED, but a cursor at the head of an old log is not', async () => {
    const file = `${scratchFolder()}/postroom.db`;
    const settings = { DATABASE_URL: `sqlite:${file}`, EVENT_RETENTION_HOURS: '1' };
    const first = await launchForTest(settings);
    const ada = await first.signUp('Ada');
    const room = await first.createRoom(ada, 'lobby');
    const oldRoom = await first.createRoom(ada, 'old');
    await createPosts(first, ada, room, postCount);
    await createPosts(first, ada, oldRoom, 3);
    await first.stop();
    withDatabase(file, (database) => {
      const age = 'update "roomEvents" set "at" = "at" - 3600001 where "seq" <= ? and "roomId" = ?';
      database.prepare(age).run(5, room);
      database.prepare(age).run(4, oldRoom);
    });
    const postroom = await launchForTest(settings);
    expect(countRows(file, room)).toBe(head);
    const cursors = readCursors(file, room);
    await expectTaken(postroom, room, cursors[5] ?? '');
    await expectExpired(postroom, ada, room, cursors[4] ?? '');
    const oldCursors = readCursors(file, oldRoom);
    await expectTaken(postroom, oldRoom, oldCursors[4] ?? '');
    await expectExpired(postroom, ada, oldRoom, oldCursors[3] ?? '');
  });
});

it('a cursor of an event that this process has not received yet is looked up in the log', async () => {
  const postroom = await launchForTest({}, { bus: createUnreliableBus('losesAll') });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  await socket.subscribe('watch', query, { room }).start;
  await createPosts(postroom, ada, room, 3);
  const after = await postroom.cursorOf(room);
  await createPosts(postroom, ada, room, 1);
  const { start, results } = socket.subscribe('behind', query, { room, after });
  expect(await start).toBe(after);
  expect((await results.next()).data.roomEvents.post.title).toBe('post 1');
  const { mark } = openCursor(after);
  expect(await outcomeOf(socket, 'ahead', { room, after: forgeCursor(mark, firstSeq + 5, room) })).toBe(
    'CURSOR_EXPIRED',
  );
  await socket.close();
});
