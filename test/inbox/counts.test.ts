// Runs on SQLite and on PostgreSQL.
import type { Client } from 'graphql-ws';
import { expect, it, onTestFinished } from 'vitest';
import { createFaultProxy } from '../support/clients/fault-proxy.ts';
import { openClient } from '../support/clients/postroom-client.ts';
import { change } from '../support/inbox/inbox-stream.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

const roomsQuery = 'query { viewer { rooms(first: 100) { nodes { id unread cursor } } } }';
const inboxQuery = `subscription ($after: [String!]) {
  inbox(after: $after) { __typename room { id } ... on PostCreated { post { title } } }
}`;
const postCount = 3;

interface Room {
  id: string;
  unread: number;
  cursor: string;
}

interface Event {
  __typename: string;
  room: { id: string };
  post?: { title: string } | null;
}

const listRooms = async (postroom: Postroom, { token }: Person): Promise<Room[]> =>
  (await postroom.ask(roomsQuery, {}, token))['viewer'].rooms.nodes;

/** The counts of a client that queries all rooms again when it has connected again. */
class Counts {
  readonly unread = new Map<string, number>();
  /** The title of the latest post that an event contained. */
  latest: string | undefined;
  readonly #postroom: Postroom;
  readonly #viewer: Person;
  readonly #live: Client;
  #end = () => {};
  #latestStart = 0;

  constructor(postroom: Postroom, viewer: Person, live: Client) {
    this.#postroom = postroom;
    this.#viewer = viewer;
    this.#live = live;
    live.on('connected', (_socket, _payload, wasRetry) => wasRetry && this.start());
  }

  /** Ends the inbox, queries the rooms, then subscribes with their cursors. */
  async start(): Promise<void> {
    this.#end();
    this.#latestStart += 1;
    const start = this.#latestStart;
    const rooms = await listRooms(this.#postroom, this.#viewer);
    // Two events of a room that is not listed yet cause two starts.
    if (start !== this.#latestStart) return;
    this.unread.clear();
    for (const { id, unread } of rooms) this.unread.set(id, unread);
    const variables = { after: rooms.map(({ cursor }) => cursor) };
    this.#end = this.#live.subscribe<{ inbox: Event }>(
      { query: inboxQuery, variables },
      { next: ({ data }) => data && this.#apply(data.inbox), error: () => {}, complete: () => {} },
    );
  }

  #apply({ __typename: type, room: { id }, post }: Event): void {
    const unread = this.unread.get(id);
    if (unread === undefined) void this.start();
    else if (type === 'PostCreated') this.unread.set(id, unread + 1);
    this.latest = post?.title ?? this.latest;
  }
}

it('a client that starts again after a reconnect, and after an event of an unknown room, counts as the server does', async () => {
  const postroom = await launchForTest();
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const hall = await postroom.createRoom(ada, 'hall');
  await change(postroom, 'joinRoom', bob, hall);
  const proxy = await createFaultProxy(postroom.graphqlUrl);
  onTestFinished(() => proxy.close());
  const { live } = openClient(proxy.url, { token: bob.token, retryWaitMs: () => 0 });
  const counts = new Counts(postroom, bob, live);
  const isLive = new Promise<void>((resolve) => live.on('ping', () => resolve()));
  await counts.start();
  await isLive;
  for (let round = 1; round <= 10; round += 1) {
    // A post that is committed between the reads of `cursor` and `unread` counts twice.
    proxy.freeze();
    proxy.cut();
    for (let post = 0; post < postCount - 1; post += 1) await postroom.createPost(ada, hall, `post ${post}`);
    proxy.thaw();
    await expect.poll(() => counts.unread.get(hall), { interval: 5 }).toBeGreaterThanOrEqual(round * postCount - 1);
    await postroom.createPost(ada, hall, `last of ${round}`);
    await expect.poll(() => counts.latest, { interval: 5 }).toBe(`last of ${round}`);
    expect(counts.unread.get(hall)).toBe(round * postCount);
  }
  const attic = await postroom.createRoom(bob, 'attic');
  await change(postroom, 'joinRoom', ada, attic);
  await expect.poll(() => counts.unread.get(attic), { interval: 5 }).toBe(0);
  await postroom.createPost(ada, attic, 'Hello');
  await expect.poll(() => counts.unread.get(attic), { interval: 5 }).toBe(1);
  expect(await listRooms(postroom, bob)).toMatchObject([
    { id: attic, unread: 1 },
    { id: hall, unread: 10 * postCount },
  ]);
  expect([...counts.unread]).toEqual(expect.arrayContaining([[hall, 10 * postCount]]));
});
