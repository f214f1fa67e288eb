// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { type Bus, roomTopic } from '../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { nothingLeft, readMetrics, untilCounts } from '../support/engine/metrics.ts';
import { change, InboxStream, inboxQuery } from '../support/inbox/inbox-stream.ts';
import { type BusFault, createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

/* The rooms of an inbox that its user leaves and joins again. */

interface Fixture {
  postroom: Postroom;
  ada: Person;
  bob: Person;
  hall: string;
}

async function open(fault?: BusFault): Promise<Fixture> {
  const postroom = await launchForTest({}, fault && { bus: createUnreliableBus(fault) });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  return { postroom, ada, bob, hall: await postroom.createRoom(ada, 'hall') };
}

/** Bob leaves and joins the room with each of these titles, and Ada posts with it while Bob is a member, and while he is not. */
async function rejoin({ postroom, ada, bob, hall }: Fixture, titles: readonly string[]): Promise<void> {
  for (const title of titles) {
    await change(postroom, 'leaveRoom', bob, hall);
    await postroom.createPost(ada, hall, `no member before ${title}`);
    await change(postroom, 'joinRoom', bob, hall);
    await postroom.createPost(ada, hall, title);
  }
}

const eventsOf = (titles: readonly string[]) =>
  titles.flatMap((title) => ['MemberLeft hall', 'MemberJoined hall', `PostCreated hall ${title}`]);

/** How often the server has read the log of any room. */
async function countLogReads(postroom: Postroom): Promise<number> {
  return (await readMetrics(postroom))['log_reads_total'] ?? Number.NaN;
}

it.each<BusFault>([
  'none',
  'losesAll',
  'unreliable',
])('a user who leaves and joins a room several times receives each membership (the bus: %s)', async (fault) => {
  const fixture = await open(fault);
  const { postroom, bob, hall } = fixture;
  await change(postroom, 'joinRoom', bob, hall);
  const inbox = await InboxStream.open(postroom, bob);
  const titles = ['one', 'two', 'three', 'four'];
  await rejoin(fixture, titles);
  expect(await inbox.take(12)).toEqual(eventsOf(titles));
});

it.each([
  ['while a member', 0],
  ['after leaving', 2],
])('an inbox that resumes receives each membership since its cursor (%s)', async (_, skipped) => {
  const fixture = await open();
  const { postroom, ada, bob, hall } = fixture;
  await change(postroom, 'joinRoom', bob, hall);
  const first = await InboxStream.open(postroom, bob);
  await postroom.createPost(ada, hall, 'zero');
  await first.take(1);
  await first.close();
  const titles = ['one', 'two', 'three'];
  const cursors = skipped === 0 ? first.cursors : {};
  if (skipped > 0) {
    await change(postroom, 'leaveRoom', bob, hall);
    await postroom.createPost(ada, hall, 'no member');
    cursors[hall] = await postroom.cursorOf(hall);
    await change(postroom, 'joinRoom', bob, hall);
    await postroom.createPost(ada, hall, 'half');
  }
  await rejoin(fixture, titles);
  const resumed = await InboxStream.open(postroom, bob, { seen: cursors });
  const before = skipped === 0 ? [] : ['MemberJoined hall', 'PostCreated hall half'];
  expect(await resumed.take(9 + skipped)).toEqual([...before, ...eventsOf(titles)]);
});

it('a cursor from before a long log and the MemberJoined of the viewer is resumed without reading the log', async () => {
  const fixture = await open();
  const { postroom, ada, bob, hall } = fixture;
  const early = await postroom.cursorOf(hall);
  for (let batch = 0; batch < 60; batch += 1) {
    await Promise.all(Array.from({ length: 20 }, () => postroom.createPost(ada, hall, 'before')));
  }
  await change(postroom, 'joinRoom', bob, hall);
  const before = await countLogReads(postroom);
  const inbox = await InboxStream.open(postroom, bob, { after: [early] });
  expect(await inbox.take(1)).toEqual(['MemberJoined hall']);
  // The feed is opened, and the cursor is checked.
  expect((await countLogReads(postroom)) - before).toBeLessThanOrEqual(2);
});

it('an inbox is not opened further when its client has left', async () => {
  const bus = createMemoryBus();
  const [begun, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const opened: string[] = [];
  let rooms: readonly string[] = [];
  /** The rooms of the inbox are opened only after its client has left. */
  const subscribe: Bus['subscribe'] = async (topic, listener) => {
    if (rooms.includes(topic)) {
      opened.push(topic);
      begun.resolve();
      await left.promise;
    }
    return bus.subscribe(topic, listener);
  };
  const postroom = await launchForTest({}, { bus: { ...bus, subscribe } });
  const ada = await postroom.signUp('Ada');
  const names = Array.from({ length: 50 }, (_, index) => `room ${index}`);
  rooms = await Promise.all(names.map(async (name) => roomTopic(await postroom.createRoom(ada, name))));
  const socket = await ProtocolSocket.open(postroom.graphqlUrl, { init: { authorization: `Bearer ${ada.token}` } });
  const { bus_listeners: listeners = Number.NaN } = await readMetrics(postroom);
  socket.subscribe('inbox', inboxQuery);
  await begun.promise;
  socket.complete('inbox');
  await socket.close();
  await untilCounts(postroom, { websockets: 0 });
  left.resolve();
  await untilCounts(postroom, { ...nothingLeft, bus_listeners: listeners });
  expect(opened.length).toBeGreaterThan(0);
  expect(opened.length).toBeLessThan(rooms.length / 2);
});
