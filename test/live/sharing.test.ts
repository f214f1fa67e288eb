import { expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { firstSeq, seqOf, seqsBetween } from '../support/rooms/cursors.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

interface Stage {
  postroom: Postroom;
  people: Person[];
  room: string;
}

async function openStage(): Promise<Stage> {
  const postroom = await launchForTest({ STALL_SECONDS: '600' });
  const people = await Promise.all(['Ada', 'Bob', 'Cid'].map((name) => postroom.signUp(name)));
  const [ada] = people;
  if (!ada) throw new Error('There is nobody.');
  return { postroom, people, room: await postroom.createRoom(ada, 'stage') };
}

const bearer = (person: Person) => ({ authorization: `Bearer ${person.token}` });

interface Watcher {
  /** Null without credentials. */
  person: Person | null;
  socket: ProtocolSocket;
}

/** Opens two sockets for each person, and two sockets without credentials. */
async function openWatchers({ postroom, people }: Stage, query: string): Promise<Watcher[]> {
  return Promise.all(
    [...people, null, ...people, null].map(async (person) => {
      const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: person ? bearer(person) : {} });
      await socket.follow('1', query);
      return { person, socket };
    }),
  );
}

/** Waits until the watcher has received at least `count` results, and returns them. */
async function received({ socket }: Watcher, count: number) {
  await expect.poll(() => socket.nexts('1').length, { interval: 10 }).toBeGreaterThanOrEqual(count);
  return socket.nexts('1');
}

it('an e-mail is visible only to its owner, even though all subscribers send the same document', async () => {
  const stage = await openStage();
  const { postroom, people, room } = stage;
  const query = `subscription { postAdded(room: "${room}") { title author { id email } } }`;
  const watchers = await openWatchers(stage, query);
  const streams = await Promise.all(
    people.map(async (person) => ({
      person,
      stream: await EventStream.open(postroom.graphqlUrl, query, bearer(person)),
    })),
  );
  // The server finds at the first event that the selection depends on the viewer.
  expect(await readMetrics(postroom)).toMatchObject({ groups: 1, subscribers: 11 });
  await Promise.all(
    people.map(async (person) => {
      for (let index = 0; index < 30; index += 1) await postroom.createPost(person, room, `by ${person.id}`);
    }),
  );
  const expectOwn = (
    person: Person | null,
    payloads: { data: { postAdded: { title: string; author: { id: string; email: string | null } } } }[],
  ) => {
    for (const {
      data: {
        postAdded: { title, author },
      },
    } of payloads) {
      expect(title).toBe(`by ${author.id}`);
      expect(author.email).toBe(author.id === person?.id ? person.email : null);
    }
  };
  for (const watcher of watchers) {
    const payloads = await received(watcher, 90);
    expect(payloads.map(({ extensions }) => seqOf(extensions.live.cursor))).toEqual(
      seqsBetween(firstSeq, firstSeq + 90),
    );
    expectOwn(watcher.person, payloads);
  }
  for (const { person, stream } of streams) {
    await stream.take(({ id }) => seqOf(id ?? '') === firstSeq + 90);
    expect(stream.received.slice(1).map(({ id }) => seqOf(id ?? ''))).toEqual(seqsBetween(firstSeq, firstSeq + 90));
    expectOwn(
      person,
      stream.received.slice(1).map(({ data }) => data),
    );
  }
  // One group for each person, and one group for all subscribers without credentials.
  const { groups, event_executions_total: executions } = await readMetrics(postroom);
  expect(groups).toBe(4);
  expect(executions).toBeGreaterThanOrEqual(4 * 90);
  // The failed shared executions are counted too, and are not logged.
  expect(executions).toBeLessThanOrEqual(4 * 90 + 20);
  expect(postroom.log).toEqual([]);
});

it('a selection that does not depend on the viewer is executed once for all subscribers', async () => {
  const stage = await openStage();
  const { postroom, people, room } = stage;
  const query = `subscription { roomEvents(room: "${room}") { __typename cursor at actor { id name } room { id name }
    ... on PostCreated { post { id title body author { id name createdAt } } } } }`;
  const watchers = await openWatchers(stage, query);
  for (const person of people) await postroom.createPost(person, room, 'for all');
  const [first, ...others] = await Promise.all(watchers.map((watcher) => received(watcher, 3)));
  for (const other of others) expect(other).toEqual(first);
  expect(await readMetrics(postroom)).toMatchObject({ groups: 1, subscribers: 8, event_executions_total: 3 });
});

it('a group whose selection is found to depend on the viewer is split, without a lost, repeated or disclosed event', async () => {
  const stage = await openStage();
  const { postroom, people, room } = stage;
  const [ada, bob, cid] = people as [Person, Person, Person];
  const query = `subscription { roomEvents(room: "${room}") { cursor
    ... on PostCreated { post { body } } ... on MemberJoined { user { id email } } } }`;
  const watchers = await openWatchers(stage, query);
  const start = await postroom.cursorOf(room);
  // The second socket of each viewer stops reading.
  for (const { socket } of watchers.slice(4)) socket.rawSocket.pause();
  await makePosts(postroom, { author: ada, room, count: 250, bytes: 40_000, letter: '😀' });
  await Promise.all(watchers.slice(0, 4).map((watcher) => received(watcher, 250)));
  expect(await readMetrics(postroom)).toMatchObject({ groups: 1, subscribers: 8 });
  const join = (person: Person) =>
    postroom.ask('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room }, person.token);
  const late = { person: bob, socket: await ProtocolSocket.open(postroom.webSocketUrl, { init: bearer(bob) }) };
  const resume = query.replace('")', `", after: "${start}")`);
  // All at once: posts are created, two users join, the paused sockets read again, and a client resumes from the start.
  await Promise.all([
    makePosts(postroom, { author: ada, room, count: 100, bytes: 100 }),
    join(bob),
    join(cid),
    late.socket.follow('1', resume),
    ...watchers.slice(4).map(async ({ socket }) => socket.rawSocket.resume()),
  ]);
  for (const watcher of [...watchers, late]) {
    const payloads = (await received(watcher, 352)).map(({ data }) => data.roomEvents);
    expect(payloads.map(({ cursor }) => seqOf(cursor))).toEqual(seqsBetween(firstSeq, firstSeq + 352));
    const joined = payloads.flatMap(({ user }) => (user ? [user] : []));
    expect(joined.map(({ id }) => id).sort()).toEqual([bob.id, cid.id].sort());
    for (const { id, email } of joined) expect(email).toBe(watcher.person?.id === id ? watcher.person?.email : null);
  }
  // Four groups of the first document (one for each viewer), and one group of the document that resumes.
  await untilCounts(postroom, { subscribers: 9, groups: 5 });
  expect(postroom.log).toEqual([]);
});

it('a selection found to be personal is personal in every room and for every subscriber that sends its document', async () => {
  const stage = await openStage();
  const { postroom, people, room } = stage;
  const [ada, bob] = people as [Person, Person];
  const other = await postroom.createRoom(ada, 'other');
  const query = 'subscription ($room: ID!) { postAdded(room: $room) { author { email } } }';
  const first = await ProtocolSocket.open(postroom.webSocketUrl, { init: bearer(ada) });
  await first.follow('1', query, { room });
  await postroom.createPost(bob, room, 'found out');
  await first.take(({ type }) => type === 'next');
  const { event_executions_total: before = 0 } = await readMetrics(postroom);
  const second = await ProtocolSocket.open(postroom.webSocketUrl, { init: bearer(bob) });
  await first.follow('2', query, { room: other });
  await second.follow('2', query, { room: other });
  expect(await readMetrics(postroom)).toMatchObject({ groups: 3 });
  await postroom.createPost(bob, other, 'known');
  expect(await first.take(({ id }) => id === '2')).toMatchObject({
    payload: { data: { postAdded: { author: { email: null } } } },
  });
  expect(await second.take()).toMatchObject({ payload: { data: { postAdded: { author: { email: bob.email } } } } });
  expect(await readMetrics(postroom)).toMatchObject({ event_executions_total: before + 2 });
});
