// Runs on SQLite and on PostgreSQL.
import { copyFileSync, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { type Bus, userTopic } from '../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import type { PartOverrides } from '../../src/server.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { copyTables, isPostgresTest, restoreTables } from '../support/database/test-database.ts';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';
import { firstSeq, forgeCursor, openCursor } from '../support/rooms/cursors.ts';
import { createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Person, type Postroom, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

const events = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename ... on PostCreated { post { title } } }
}`;
const posts = 'subscription ($room: ID!) { postAdded(room: $room) { title } }';
const renaming =
  'mutation ($room: ID!, $name: String!) { updateRoom(input: { id: $room, name: $name }) { room { id } } }';

interface History {
  file: string;
  settings: { DATABASE_URL: string };
  postroom: Postroom;
  ada: Person;
  room: string;
}

async function begin(overrides: PartOverrides = {}): Promise<History> {
  const file = `${scratchFolder()}/postroom.db`;
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const postroom = await launchForTest(settings, overrides);
  const ada = await postroom.signUp('Ada');
  return { file, settings, postroom, ada, room: await postroom.createRoom(ada, 'lobby') };
}

/** Creates a post with each name, and returns the cursor after each post. */
async function writePosts({ postroom, ada, room }: History, names: readonly string[]): Promise<string[]> {
  const cursors: string[] = [];
  for (const name of names) {
    await postroom.createPost(ada, room, name);
    cursors.push(await postroom.cursorOf(room));
  }
  return cursors;
}

function names(letter: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${letter}${from + index}`);
}

function open({ webSocketUrl }: Postroom, seen: Record<string, string> = {}): Promise<ProtocolSocket> {
  return ProtocolSocket.open(webSocketUrl, { init: { live: { seen } } });
}

/** Resumes a subscription, and returns the code and cursor of the refusal or the titles that it receives. */
async function resume(history: History, after: string, count: number): Promise<unknown> {
  const { start, refused, results } = (await open(history.postroom, { resumed: after })).subscribe('resumed', events, {
    room: history.room,
  });
  const error = await Promise.race([start.then(() => undefined), refused.then(([first]) => first)]);
  if (error) return { code: error.extensions.code, cursor: error.extensions.live?.cursor };
  return (await results.take(count)).map(({ data }) => data.roomEvents.post.title);
}

function copy(file: string): string {
  if (isPostgresTest) {
    withDatabase(file, copyTables);
    return file;
  }
  const target = `${file}.old`;
  rmSync(target, { force: true });
  withDatabase(file, (database) => database.exec(`vacuum into '${target}'`));
  return target;
}

/** Replaces the database of a stopped server with an older state. */
function putBack(file: string, old: string): void {
  if (isPostgresTest) return withDatabase(file, restoreTables);
  for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
  copyFileSync(old, file);
}

/** Restores an older state into the database of a running server. */
async function restoreUnder(file: string, old: string): Promise<void> {
  if (isPostgresTest) return withDatabase(file, restoreTables);
  const source = new DatabaseSync(old);
  try {
    await backup(source, file);
  } finally {
    source.close();
  }
}

describe('after an older state of the database was restored', () => {
  it('a cursor from the lost history is CURSOR_EXPIRED, and one from before it resumes completely', async () => {
    const first = await begin();
    const kept = await writePosts(first, names('A', 1, 5));
    const old = copy(first.file);
    const lost = await writePosts(first, names('A', 6, 10));
    await first.postroom.stop();
    putBack(first.file, old);
    const postroom = await launchForTest(first.settings);
    const history = { ...first, postroom };
    const rewritten = await writePosts(history, names('B', 6, 8));
    // The log first ends before the last lost cursor, then at its sequence number, and then after it.
    expect(await resume(history, lost[4] ?? '', 0)).toEqual({ code: 'CURSOR_EXPIRED', cursor: rewritten[2] });
    const [, end] = await writePosts(history, names('B', 9, 10));
    for (const cursor of lost) {
      expect(await resume(history, cursor, 0)).toEqual({ code: 'CURSOR_EXPIRED', cursor: end });
    }
    const [, , latest] = await writePosts(history, names('B', 11, 13));
    for (const cursor of lost) {
      expect(await resume(history, cursor, 0)).toEqual({ code: 'CURSOR_EXPIRED', cursor: latest });
    }
    expect(await resume(history, kept[4] ?? '', 8)).toEqual(names('B', 6, 13));
    expect(await resume(history, kept[1] ?? '', 11)).toEqual([...names('A', 3, 5), ...names('B', 6, 13)]);
  });

  it('a cursor is checked by its mark even if its own event has been trimmed', async () => {
    const first = await begin();
    const cursors = await writePosts(first, names('A', 1, 6));
    await first.postroom.stop();
    withDatabase(first.file, (database) => database.exec('delete from "roomEvents" where "seq" <= 5'));
    const history = { ...first, postroom: await launchForTest(first.settings) };
    expect(await resume(history, cursors[3] ?? '', 2)).toEqual(names('A', 5, 6));
    expect(await resume(history, cursors[5] ?? '', 0)).toEqual([]);
    for (const index of [3, 5]) {
      const { seq, roomId } = openCursor(cursors[index] ?? '');
      const code = 'CURSOR_EXPIRED';
      expect(await resume(history, forgeCursor('0badcafe', seq, roomId), 0)).toEqual({ code, cursor: cursors[5] });
    }
    expect(await resume(history, cursors[2] ?? '', 0)).toEqual({ code: 'CURSOR_EXPIRED', cursor: cursors[5] });
  });
});

describe('when the database is rewound under a running server', () => {
  it.each([
    ['the new history is shorter', 'none', 0],
    ['the new history has grown past it', 'none', 7],
    ['the new history has grown past it and the bus loses all messages', 'losesAll', 7],
  ] as const)('a live stream ends with CURSOR_EXPIRED and continues from the cursor it is given: %s', async (_, fault, count) => {
    const history = await begin({ bus: createUnreliableBus(fault) });
    const { postroom, room } = history;
    const [live, resumed] = [await open(postroom), await open(postroom)];
    const started = live.subscribe('live', events, { room });
    await started.start;
    await writePosts(history, names('A', 1, 5));
    const old = copy(history.file);
    const lost = await writePosts(history, names('A', 6, 10));
    const received = await started.results.take(10);
    expect(received.map(({ data }) => data.roomEvents.post.title)).toEqual(names('A', 1, 10));
    await restoreUnder(history.file, old);
    await writePosts(history, names('B', 6, 5 + count));
    const [error] = await started.refused;
    expect(error?.extensions.code).toBe('CURSOR_EXPIRED');
    // No event of the new history was delivered before the error.
    expect(started.results.all).toHaveLength(10);
    const after = error?.extensions.live?.cursor;
    expect(lost).not.toContain(after);
    const again = resumed.subscribe('again', events, { room, after });
    expect(await again.start).toBe(after);
    const { seq } = openCursor(after ?? '');
    await writePosts(history, ['later']);
    const rest = await again.results.take(firstSeq + 5 + count - seq + 1);
    expect(rest.map(({ data }) => data.roomEvents.post.title)).toEqual([
      ...names('B', seq - firstSeq + 1, 5 + count),
      'later',
    ]);
  });

  it('a stream that has received nothing of the lost history continues', async () => {
    const history = await begin();
    const { postroom, room, ada } = history;
    const { start, results } = (await open(postroom)).subscribe('posts', posts, { room });
    await start;
    await writePosts(history, names('A', 1, 3));
    const old = copy(history.file);
    for (const name of names('lobby', 1, 5)) await postroom.ask(renaming, { room, name }, ada.token);
    expect((await results.take(3)).map(({ data }) => data.postAdded.title)).toEqual(names('A', 1, 3));
    await restoreUnder(history.file, old);
    await writePosts(history, names('B', 4, 12));
    expect((await results.take(9)).map(({ data }) => data.postAdded.title)).toEqual(names('B', 4, 12));
  });

  it('a stream of a room that is private in the older state ends with MEMBERSHIP_REVOKED', async () => {
    const history = await begin();
    const { postroom, room, ada } = history;
    const change =
      'mutation ($room: ID!, $visibility: RoomVisibility!) { updateRoom(input: { id: $room, visibility: $visibility }) { room { id } } }';
    await postroom.ask(change, { room, visibility: 'PRIVATE' }, ada.token);
    const old = copy(history.file);
    await postroom.ask(change, { room, visibility: 'PUBLIC' }, ada.token);
    const { start, refused } = (await open(postroom)).subscribe('anonymous', events, { room });
    await start;
    await restoreUnder(history.file, old);
    const [error] = await refused;
    expect(error?.extensions.code).toBe('MEMBERSHIP_REVOKED');
  });

  it('an inbox ends with CURSOR_EXPIRED, with the room and the present cursors of all rooms', async () => {
    const history = await begin();
    const { postroom, room, ada } = history;
    const other = await postroom.createRoom(ada, 'other');
    const inbox = await InboxStream.open(postroom, ada);
    const [kept = ''] = await writePosts(history, ['A1']);
    const old = copy(history.file);
    await writePosts(history, ['A2']);
    expect(await inbox.take(2)).toEqual(['PostCreated lobby A1', 'PostCreated lobby A2']);
    await restoreUnder(history.file, old);
    const [error] = await inbox.refused;
    const cursors = { [room]: kept, [other]: await postroom.cursorOf(other), [ada.id]: expect.any(String) };
    expect(error?.extensions).toEqual({ code: 'CURSOR_EXPIRED', live: { room, cursors } });
    const resumed = await InboxStream.open(postroom, ada, { seen: error?.extensions.live?.cursors });
    await writePosts(history, ['B2']);
    expect(await resumed.take(1)).toEqual(['PostCreated lobby B2']);
  });

  it('an inbox of a user whose MemberLeft was lost ends with CURSOR_EXPIRED, although as many memberships have changed since', async () => {
    const history = await begin({ bus: createUnreliableBus('losesAll') });
    const { postroom, room } = history;
    const bob = await postroom.signUp('Bob');
    const other = await postroom.createRoom(history.ada, 'other');
    await change(postroom, 'joinRoom', bob, room);
    const inbox = await InboxStream.open(postroom, bob);
    const old = copy(history.file);
    await change(postroom, 'leaveRoom', bob, room);
    expect(await inbox.take(1)).toEqual(['MemberLeft lobby']);
    await restoreUnder(history.file, old);
    await change(postroom, 'joinRoom', bob, other);
    const [error] = await inbox.refused;
    const { code, live } = error?.extensions ?? {};
    expect([code, Object.keys(live?.cursors ?? {}).sort()]).toEqual(['CURSOR_EXPIRED', [room, other, bob.id].sort()]);
  });

  it.each([
    ['is shorter', 'none', []],
    ['has as many events', 'none', ['new']],
    ['has as many events, and the bus loses all messages', 'losesAll', ['new']],
  ] as const)('an inbox whose user has left a room in the new history ends with CURSOR_EXPIRED, because it has events of the lost one: the new history %s', async (_, fault, titles) => {
    const history = await begin({ bus: createUnreliableBus(fault) });
    const { postroom, room, ada } = history;
    const bob = await postroom.signUp('Bob');
    await change(postroom, 'joinRoom', bob, room);
    const inbox = await InboxStream.open(postroom, bob);
    const old = copy(history.file);
    await postroom.createPost(ada, room, 'lost');
    expect(await inbox.take(1)).toEqual(['PostCreated lobby lost']);
    await restoreUnder(history.file, old);
    await writePosts(history, titles);
    await change(postroom, 'leaveRoom', bob, room);
    const [error] = await inbox.refused;
    expect(error?.extensions).toMatchObject({ code: 'CURSOR_EXPIRED', live: { room } });
  });

  it('an inbox that is opened meanwhile by a user whose MemberLeft is lost is cut, and resumes the room', async () => {
    const bus = createMemoryBus();
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let heldTopic: string | undefined;
    const subscribe: Bus['subscribe'] = async (topic, listener) => {
      if (topic === heldTopic) {
        arrived.resolve();
        await released.promise;
      }
      return bus.subscribe(topic, listener);
    };
    const history = await begin({ bus: { ...bus, subscribe } });
    const { postroom, room, ada } = history;
    const bob = await postroom.signUp('Bob');
    await change(postroom, 'joinRoom', bob, room);
    const { seen, socket } = await InboxStream.open(postroom, bob);
    await socket.close();
    const old = copy(history.file);
    await change(postroom, 'leaveRoom', bob, room);
    heldTopic = userTopic(bob.id);
    const opening = InboxStream.open(postroom, bob, { seen });
    await arrived.promise;
    await restoreUnder(history.file, old);
    released.resolve();
    await (await opening).socket.closed;
    await postroom.createPost(ada, room, 'new');
    const resumed = await InboxStream.open(postroom, bob, { seen });
    expect(await resumed.take(1)).toEqual(['PostCreated lobby new']);
  });

  it('an inbox of a user whose membership of a public room was lost ends with CURSOR_EXPIRED', async () => {
    const history = await begin();
    const { postroom, room, ada } = history;
    const bob = await postroom.signUp('Bob');
    const old = copy(history.file);
    await change(postroom, 'joinRoom', bob, room);
    const inbox = await InboxStream.open(postroom, bob);
    await restoreUnder(history.file, old);
    await postroom.createPost(ada, room, 'new');
    const [error] = await inbox.refused;
    expect(error?.extensions).toEqual({ code: 'CURSOR_EXPIRED', live: { cursors: { [bob.id]: expect.any(String) } } });
    expect(inbox.socket.nexts('inbox')).toHaveLength(0);
  });

  it('an inbox of a user who is no member of a private room in the older state ends with CURSOR_EXPIRED and no event of the room', async () => {
    const history = await begin();
    const { postroom, ada } = history;
    const bob = await postroom.signUp('Bob');
    const own = await postroom.createRoom(bob, 'own');
    const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
    const den: string = (await postroom.ask(create, {}, ada.token)).createRoom.room.id;
    const old = copy(history.file);
    const add = 'mutation ($den: ID!, $bob: ID!) { addRoomMember(input: { room: $den, user: $bob }) { room { id } } }';
    await postroom.ask(add, { den, bob: bob.id }, ada.token);
    const inbox = await InboxStream.open(postroom, bob);
    expect(Object.keys(inbox.cursors).sort()).toEqual([den, own].sort());
    await restoreUnder(history.file, old);
    for (const title of ['secret', 'more', 'again']) await postroom.createPost(ada, den, title);
    const [error] = await inbox.refused;
    const cursors = { [own]: await postroom.cursorOf(own), [bob.id]: expect.any(String) };
    expect(error?.extensions).toEqual({ code: 'CURSOR_EXPIRED', live: { cursors } });
    expect(inbox.socket.nexts('inbox')).toHaveLength(0);
  });
});
