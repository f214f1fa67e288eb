// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { insert } from '../support/database/rows.ts';
import { createRandom } from '../support/rooms/unreliable-bus.ts';
import { grantAdmin, type Person } from '../support/server/postroom.ts';
import { type SharedServer, shareServer } from '../support/server/shared-server.ts';

/*
 * All lists of rooms and posts, for each kind of viewer, on random data with many private rooms. The expected rows are found
 * by reading all of them.
 */

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const random = createRandom(seed);
const below = (limit: number) => Math.floor(random() * limit);
const isChosen = (percent: number) => below(100) < percent;

const publicRooms = 25;
const postCount = 3_000;
const startOfTimes = Date.UTC(2020, 0);

interface Room {
  id: string;
  name: string;
  visibility: 'PUBLIC' | 'PRIVATE';
  ownerId: string | null;
  createdAt: number;
  deletedAt: number | null;
}

interface Post {
  id: string;
  roomId: string;
  authorId: string;
  title: string;
  publishedAt: number | null;
  createdAt: number;
}

interface Rows {
  rooms: Room[];
  posts: Post[];
  /** The room and the user of each membership, as one text. */
  members: ReadonlySet<string>;
}

const kinds = ['owner', 'member', 'former member', 'stranger', 'admin'] as const;
let server: SharedServer;
let people: Person[];
let rows: Rows;

/** Few different times, so that many rows have the same. */
function chooseTime(): number {
  return startOfTimes + below(500) * 60_000;
}

function idOf(letter: string, number: number): string {
  return `${letter}${String(number).padStart(26, '0')}`;
}

function createRooms(privateRooms: number, owners: readonly string[]): Room[] {
  const ownerOf = () => owners[below(owners.length)] ?? null;
  return Array.from({ length: publicRooms + privateRooms }, (_, index) => {
    const isPublic = index % Math.floor(1 + privateRooms / publicRooms) === 0;
    const visibility = isPublic ? 'PUBLIC' : 'PRIVATE';
    // Owners have private rooms of the same name, and of the name of a public room.
    const name = isPublic || isChosen(80) ? `room ${index}` : `room ${below(5) * 33}`;
    // Different for each index, in random order.
    const id = idOf('r', below(90_000) * 10_000 + index);
    return { id, name, visibility, ownerId: ownerOf(), createdAt: chooseTime(), deletedAt: null };
  });
}

/** Leaves out rooms of the same name and owner, which the database refuses. Some other rooms are being deleted. */
function withoutDuplicates(rooms: readonly Room[]): Room[] {
  const unique = new Map(rooms.map((room) => [`${room.visibility} ${room.name} ${room.ownerId}`, room]));
  return [...unique.values()].map((room) => {
    const isDeleted = room.visibility === 'PRIVATE' && isChosen(3);
    return isDeleted ? { ...room, name: '', ownerId: null, deletedAt: room.createdAt } : room;
  });
}

function createPosts(rooms: readonly Room[], authors: readonly string[]): Post[] {
  return Array.from({ length: postCount }, (_, index) => {
    // Half of the posts are in public rooms.
    const candidates = isChosen(50) ? rooms.filter(({ visibility }) => visibility === 'PUBLIC') : rooms;
    const roomId = candidates[below(candidates.length)]?.id ?? '';
    const authorId = authors[below(authors.length)] ?? '';
    const [createdAt, title] = [chooseTime(), `post ${index} of ${below(40)}`];
    return {
      id: idOf('p', index),
      roomId,
      authorId,
      title,
      publishedAt: isChosen(95) ? chooseTime() : null,
      createdAt,
    };
  });
}

async function writeRows(privateRooms: number): Promise<void> {
  people = [];
  for (const kind of kinds) people.push(await server.postroom.signUp(kind));
  const [owner, member, former, , admin] = people.map(({ id }) => id);
  const file = server.databaseFile;
  const users = Array.from({ length: 20 }, (_, index) => idOf('u', index));
  insert(
    file,
    'users',
    users.map((id) => ({ id, name: 'one of many', createdAt: 1, updatedAt: 1, version: 1 })),
  );
  const all = [...users, ...people.map(({ id }) => id)];
  const rooms = withoutDuplicates(createRooms(privateRooms, [...users, owner ?? '']));
  const isMember = (userId: string, { ownerId, visibility }: Room) =>
    userId === ownerId || (userId === member && isChosen(visibility === 'PUBLIC' ? 50 : 5)) || isChosen(2);
  const hasMembers = [...users, owner ?? '', member ?? '', admin ?? ''];
  const members = rooms.flatMap((room) =>
    hasMembers.flatMap((userId) => (isMember(userId, room) ? [{ roomId: room.id, userId }] : [])),
  );
  const left = rooms.flatMap(({ id }) => (isChosen(30) ? [{ roomId: id, userId: former ?? '' }] : []));
  const posts = createPosts(rooms, all);
  const state = { head: 0, updatedAt: 1, version: 1 };
  insert(
    file,
    'rooms',
    rooms.map((room) => ({ ...room, ...state })),
  );
  insert(
    file,
    'roomMembers',
    members.map((each) => ({ ...each, joinedAt: 1 })),
  );
  insert(file, 'formerMembers', left);
  insert(
    file,
    'posts',
    posts.map((post) => ({ ...post, updatedAt: 1, version: 1 })),
  );
  rows = { rooms, posts, members: new Set(members.map(({ roomId, userId }) => `${roomId} ${userId}`)) };
  const [, , , , person] = people;
  if (person) await grantAdmin({ DATABASE_URL: `sqlite:${file}` }, person);
}

/** What a viewer may see, found by reading all rows. */
class Reference {
  readonly rooms: Room[];
  readonly posts: Post[];
  readonly drafts: Post[];
  readonly #viewer: Person | undefined;

  constructor(viewer: Person | undefined, seesAll: boolean) {
    this.#viewer = viewer;
    const isVisible = ({ id, visibility, deletedAt }: Room) =>
      deletedAt === null && (visibility === 'PUBLIC' || seesAll || this.isMember(id));
    this.rooms = rows.rooms.filter(isVisible).sort(byTime(({ createdAt }) => createdAt));
    const visible = new Set(idsOf(this.rooms));
    const all = rows.posts.filter(({ roomId }) => visible.has(roomId));
    const isOwn = ({ authorId, publishedAt }: Post) => authorId === viewer?.id && publishedAt === null;
    this.posts = all.filter(({ publishedAt }) => publishedAt !== null).sort(byTime(({ publishedAt }) => publishedAt));
    this.drafts = all.filter(isOwn).sort(byTime(({ createdAt }) => createdAt));
  }

  isMember(roomId: string, userId = this.#viewer?.id): boolean {
    return rows.members.has(`${roomId} ${userId}`);
  }

  roomByName(name: string): Room | undefined {
    const named = this.rooms.filter((room) => room.name === name);
    return named.find(({ visibility }) => visibility === 'PUBLIC') ?? named[0];
  }
}

function byTime<Row extends { id: string }>(timeOf: (row: Row) => number | null) {
  return (a: Row, b: Row) => (timeOf(a) ?? 0) - (timeOf(b) ?? 0) || (a.id < b.id ? -1 : 1);
}

function idsOf(found: readonly { id: string }[]): string[] {
  return found.map(({ id }) => id);
}

const pagesOf = '{ data { id } pagination { total } }';

/** Reads some pages of a list, near its start, its end, and after more rows than a short read skips. */
async function expectList(field: string, args: string, expected: readonly { id: string }[], token?: string) {
  const length = 7;
  const last = Math.max(1, Math.ceil(expected.length / length));
  const pages = [...new Set([1, 2, Math.min(150, last), Math.max(1, last - 1), last, last + 1])];
  const aliases = pages.map((page) => `p${page}: ${field}(${args} page: ${page}, limit: ${length}) ${pagesOf}`);
  const query = `{ ${aliases.join(' ')} }`;
  const pageOf = (page: number) => ({
    data: expected.slice((page - 1) * length, page * length).map(({ id }) => ({ id })),
    pagination: { total: expected.length },
  });
  const found = await server.postroom.ask(query, {}, token);
  expect(found, `seed ${seed}: ${query}`).toEqual(Object.fromEntries(pages.map((page) => [`p${page}`, pageOf(page)])));
}

interface NamedRoom {
  id: string;
  posts: { edges: { cursor: string; node: { id: string } }[] };
}

/** Fewer requests take less time; the aliases of one are limited. */
const namesPerRequest = 10;

const viewers = ['viewer without credentials', ...kinds] as const;

describe.for([700, 1_200])('beside %i private rooms', (privateRooms) => {
  const own = shareServer({ RATE_LIMIT: '0', LIMIT_COST: '100000' });
  beforeAll(async () => {
    server = own;
    await writeRows(privateRooms);
  });

  describe.for(viewers)('the lists of a %s have the rows of visible rooms, and no others:', expectVisibleRows);
});

function expectVisibleRows(kind: (typeof viewers)[number]): void {
  const viewer = () => (kind === 'viewer without credentials' ? undefined : people[kinds.indexOf(kind)]);
  let reference: Reference;
  beforeAll(() => {
    reference = new Reference(viewer(), kind === 'admin');
  });
  const ask = (query: string) => server.postroom.ask(query, {}, viewer()?.token);
  const someUsers = () => [...people.map(({ id }) => id), idOf('u', 1), 'u9'];

  it('rooms', async () => {
    const list = (filter: string, isFound: (room: Room) => boolean) =>
      expectList('rooms', `filter: { ${filter} }`, reference.rooms.filter(isFound), viewer()?.token);
    await list('', () => true);
    for (const visibility of ['PUBLIC', 'PRIVATE']) {
      const [ofUser] = someUsers();
      await list(`visibility: ${visibility}`, (room) => room.visibility === visibility);
      await list(
        `visibility: ${visibility}, name: "OM 1"`,
        (room) => room.visibility === visibility && room.name.includes('om 1'),
      );
      await list(
        `visibility: ${visibility}, member: "${ofUser}"`,
        (room) => room.visibility === visibility && reference.isMember(room.id, ofUser),
      );
    }
    await list('name: "3"', ({ name }) => name.includes('3'));
    for (const user of someUsers()) {
      await list(`member: "${user}"`, ({ id }) => reference.isMember(id, user));
      await list(`member: "${user}", name: "2"`, ({ id, name }) => name.includes('2') && reference.isMember(id, user));
    }
  });

  it('posts', async () => {
    const visible = reference.posts;
    const list = async (filter: string, isFound: (post: Post) => boolean) => {
      const expected = visible.filter(isFound);
      await expectList('posts', `filter: { ${filter} }`, expected, viewer()?.token);
      const newestFirst = expected.toReversed();
      await expectList('posts', `order: NEWEST_FIRST, filter: { ${filter} }`, newestFirst, viewer()?.token);
    };
    await list('', () => true);
    await list('title: "of 7"', ({ title }) => title.includes('of 7'));
    const [after, before] = [100, 300].map((minutes) => startOfTimes + minutes * 60_000) as [number, number];
    const isBetween = ({ publishedAt }: Post) => Number(publishedAt) > after && Number(publishedAt) < before;
    const range = `publishedAfter: "${new Date(after).toISOString()}", publishedBefore: "${new Date(before).toISOString()}"`;
    await list(range, isBetween);
    const [author] = someUsers();
    for (const user of someUsers()) await list(`author: "${user}"`, ({ authorId }) => authorId === user);
    await list(`author: "${author}", ${range}`, (post) => post.authorId === author && isBetween(post));
    const some = rows.rooms.filter((_, index) => index % 60 === 0);
    const own = rows.rooms.filter(({ id }) => reference.isMember(id)).slice(0, 3);
    for (const { id } of [...some, ...own]) await list(`room: "${id}"`, ({ roomId }) => roomId === id);
    for (const { id } of [...some, ...own].slice(0, 4)) {
      await list(`room: "${id}", author: "${author}"`, ({ roomId, authorId }) => roomId === id && authorId === author);
    }
  });

  it('the last posts of users, and the drafts of the viewer', async () => {
    const { posts, drafts } = reference;
    for (const user of someUsers().slice(0, -1)) {
      const expected = posts.filter(({ authorId }) => authorId === user);
      for (const last of [1, 20]) {
        const found = await ask(`{ user(id: "${user}") { posts(last: ${last}) { id } drafts ${pagesOf} } }`);
        expect(idsOf(found.user.posts), `seed ${seed}`).toEqual(idsOf(expected.slice(-last)));
        const own = user === viewer()?.id ? drafts : [];
        expect(found.user.drafts.pagination.total, `seed ${seed}`).toBe(own.length);
        expect(idsOf(found.user.drafts.data), `seed ${seed}`).toEqual(idsOf(own.slice(0, 20)));
      }
    }
  });

  it('rooms by name, and pages of their posts before and after cursors', async () => {
    const names = new Set(rows.rooms.map(({ name }) => name).filter((_, index) => index % 25 < 2));
    const all = ['', 'none', 'room 0', 'room 33', 'room 66', ...names];
    const fields = 'id posts(first: 3) { edges { cursor node { id } } pageInfo { hasNextPage } }';
    const found: Record<string, NamedRoom | null> = {};
    for (let from = 0; from < all.length; from += namesPerRequest) {
      const some = all.slice(from, from + namesPerRequest);
      const aliases = some.map((name, index) => `r${from + index}: roomByName(name: "${name}") { ${fields} }`);
      Object.assign(found, await ask(`{ ${aliases.join(' ')} }`));
    }
    const nextPages = new Map<string, string[]>();
    for (const [index, name] of all.entries()) {
      const expected = reference.roomByName(name);
      const room = found[`r${index}`];
      expect(room?.id, `seed ${seed}: ${name}`).toBe(expected?.id);
      const posts = reference.posts.filter(({ roomId }) => roomId === expected?.id);
      const edges = room?.posts.edges ?? [];
      expect(idsOf(edges.map(({ node }) => node))).toEqual(idsOf(posts.slice(0, 3)));
      const cursor = edges.at(-1)?.cursor;
      if (cursor === undefined) continue;
      const next = `room(id: "${room?.id}") { posts(first: 100, after: "${cursor}") { nodes { id } } }`;
      nextPages.set(next, idsOf(posts.slice(3, 103)));
    }
    const queries = [...nextPages.keys()];
    for (let from = 0; from < queries.length; from += namesPerRequest) {
      const some = queries.slice(from, from + namesPerRequest);
      const pages = await ask(`{ ${some.map((query, index) => `r${index}: ${query}`).join(' ')} }`);
      for (const [index, query] of some.entries())
        expect(idsOf(pages[`r${index}`].posts.nodes), `seed ${seed}: ${query}`).toEqual(nextPages.get(query));
    }
  });
}
