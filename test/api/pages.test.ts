// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { writeMembers, writePosts, writeRoom, writeUsers } from '../support/database/rows.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
const day = 86_400_000;
const start = Date.UTC(2020, 0, 1);
const at = (index: number) => start + index * day;
const iso = (time: number) => new Date(time).toISOString();

let users: string[];
let members: string[];
let rooms: string[];
let posts: string[];
beforeAll(() => {
  const file = server.databaseFile;
  users = writeUsers(
    file,
    Array.from({ length: 23 }, (_, index) => at(index)),
  );
  rooms = ['Lobby', 'lob%by', 'lob_by', 'Ärger', 'back\\slash'].map((name) => writeRoom(file, name));
  members = writeMembers(file, rooms[1] ?? '', [at(100), at(101)]);
  const [author = ''] = users;
  const [room = ''] = rooms;
  posts = writePosts(file, { room, author, times: [at(2), at(0), null, at(0), at(1)] });
});

interface Page {
  data: { id: string }[];
  pagination: { page: number; limit: number; total: number; pages: number };
}

async function read(field: string, args: Record<string, unknown> = {}): Promise<Page> {
  const filter = { users: 'UserFilter', posts: 'PostFilter', rooms: 'RoomFilter' }[field];
  const data = await server.postroom.ask(
    `query ($page: Int = 1, $limit: Int = 20, $filter: ${filter}) {
      ${field}(page: $page, limit: $limit, filter: $filter) { data { id } pagination { page limit total pages } }
    }`,
    args,
  );
  return data[field];
}

async function filtered(field: string, filter: Record<string, unknown>): Promise<string[]> {
  const { data, pagination } = await read(field, { filter, limit: 100 });
  expect(pagination.total).toBe(data.length);
  return data.map(({ id }) => id);
}

describe('a page', () => {
  it('is { data, pagination { page limit total pages } }', async () => {
    const { id } = { id: users[22] };
    expect(await read('users', { page: 3, limit: 11, filter: { createdBefore: iso(at(23)) } })).toEqual({
      data: [{ id }],
      pagination: { page: 3, limit: 11, total: 23, pages: 3 },
    });
  });

  it('is the first of 20 without arguments, also if they are null', async () => {
    for (const args of ['', '(page: null, limit: null, filter: null)', '(filter: {})', '(filter: { name: null })']) {
      const { users: page } = await server.postroom.ask(`{ users${args} { data { id } pagination { page limit } } }`);
      expect(page.pagination).toEqual({ page: 1, limit: 20 });
      expect(page.data.map(({ id }: { id: string }) => id)).toEqual(users.slice(0, 20));
    }
  });

  it('takes a limit of 1 to 100 and a page from 1, and reports both problems together', async () => {
    const query = 'query ($page: Int, $limit: Int) { users(page: $page, limit: $limit) { pagination { page } } }';
    for (const taken of [
      { page: 1, limit: 1 },
      { page: 10_000, limit: 100 },
    ]) {
      expect(await server.postroom.send(query, taken)).toMatchObject({ status: 200 });
    }
    for (const [page, limit] of [
      [0, 0],
      [-1, 101],
      [-2_147_483_648, 2_147_483_647],
    ]) {
      const reply = await server.postroom.send(query, { page, limit });
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: null });
      expect(reply.errors?.[0]?.extensions.details).toEqual([
        { field: 'page', issue: 'out_of_range' },
        { field: 'limit', issue: 'out_of_range' },
      ]);
    }
  });

  it('far after the last is empty, and its pagination is exact', async () => {
    for (const field of ['users', 'posts', 'rooms']) {
      const { data, pagination } = await read(field, { page: 10_000, limit: 100 });
      expect(data).toEqual([]);
      expect(pagination).toMatchObject({ page: 10_000, limit: 100, pages: 1 });
    }
  });

  it('counts 0 pages where the total is 0', async () => {
    for (const field of ['users', 'posts', 'rooms']) {
      const { pagination } = await read(field, { filter: { [field === 'posts' ? 'title' : 'name']: 'nowhere' } });
      expect(pagination).toEqual({ page: 1, limit: 20, total: 0, pages: 0 });
    }
  });

  it('continues the page before without a gap or a repetition', async () => {
    const pages = await Promise.all([1, 2, 3, 4, 5, 6].map((page) => read('users', { page, limit: 5 })));
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual([...users, ...members]);
    expect(pages.map(({ pagination }) => pagination.pages)).toEqual([5, 5, 5, 5, 5, 5]);
  });
});

describe('posts', () => {
  it('are the published posts in the order of (publishedAt, id), newest last', async () => {
    const { data, pagination } = await read('posts');
    expect(data.map(({ id }) => posts.indexOf(id))).toEqual([1, 3, 4, 0]);
    expect(pagination).toMatchObject({ total: 4, pages: 1 });
  });

  it('are in the opposite order, over all pages, if the newest are requested first', async () => {
    const idsOf = async (args: string): Promise<string[]> => {
      const { data } = (await server.postroom.ask(`{ posts(${args}) { data { id } } }`)).posts;
      return data.map(({ id }: { id: string }) => id);
    };
    const oldestFirst = await idsOf('order: OLDEST_FIRST');
    expect(oldestFirst.map((id) => posts.indexOf(id))).toEqual([1, 3, 4, 0]);
    expect(await idsOf('order: null')).toEqual(oldestFirst);
    const pages = await Promise.all([1, 2, 3].map((page) => idsOf(`order: NEWEST_FIRST, limit: 3, page: ${page}`)));
    expect(pages).toEqual([oldestFirst.slice(1).reverse(), oldestFirst.slice(0, 1), []]);
    const filter = `filter: { room: "${rooms[0]}", publishedAfter: "${iso(at(0))}" }`;
    expect(await idsOf(`order: NEWEST_FIRST, ${filter}`)).toEqual([posts[0], posts[4]]);
  });

  it('are filtered by room, author, title and time; a post must match all filters', async () => {
    const [p0, p1, , p3, p4] = posts;
    expect(await filtered('posts', { room: rooms[0] })).toEqual([p1, p3, p4, p0]);
    expect(await filtered('posts', { room: rooms[1] })).toEqual([]);
    expect(await filtered('posts', { author: users[0] })).toEqual([p1, p3, p4, p0]);
    expect(await filtered('posts', { author: users[1] })).toEqual([]);
    expect(await filtered('posts', { title: 'OST 3' })).toEqual([p3]);
    expect(await filtered('posts', { publishedAfter: iso(at(0)) })).toEqual([p4, p0]);
    expect(await filtered('posts', { publishedBefore: iso(at(2)) })).toEqual([p1, p3, p4]);
    expect(await filtered('posts', { publishedAfter: iso(at(0)), publishedBefore: iso(at(2)) })).toEqual([p4]);
    expect(await filtered('posts', { room: rooms[0], author: users[0], title: '3' })).toEqual([p3]);
  });
});

describe('users', () => {
  it('are filtered by name and time of creation, in the order of creation', async () => {
    expect(await filtered('users', { name: 'USER 2' })).toEqual([users[2], users[20], users[21], users[22]]);
    expect(await filtered('users', { createdAfter: iso(at(20)), createdBefore: iso(at(22)) })).toEqual([users[21]]);
  });
});

describe('rooms', () => {
  it('are filtered by name and member', async () => {
    expect(await filtered('rooms', { name: 'LOB' })).toEqual(rooms.slice(0, 3));
    expect(await filtered('rooms', { member: members[0] })).toEqual([rooms[1]]);
    expect(await filtered('rooms', { member: members[0], name: 'back' })).toEqual([]);
    expect(await filtered('rooms', { member: users[0] })).toEqual([]);
  });
});

describe('a filter by part of a name', () => {
  it('is text, not a pattern', async () => {
    expect(await filtered('rooms', { name: '%' })).toEqual([rooms[1]]);
    expect(await filtered('rooms', { name: '_' })).toEqual([rooms[2]]);
    expect(await filtered('rooms', { name: '\\' })).toEqual([rooms[4]]);
    expect(await filtered('rooms', { name: "'; drop table rooms; --" })).toEqual([]);
  });

  it('matches letters outside A to Z exactly', async () => {
    expect(await filtered('rooms', { name: 'Ä' })).toEqual([rooms[3]]);
    expect(await filtered('rooms', { name: 'ä' })).toEqual([]);
  });

  it('finds all if it is empty, and nothing if it cannot be part of a name', async () => {
    expect(await filtered('rooms', { name: '' })).toEqual(rooms);
    for (const name of ['\0', 'lob\0', '\ud800', 'l'.repeat(81), 'l'.repeat(60_000), '%'.repeat(60_000)]) {
      expect(await filtered('rooms', { name })).toEqual([]);
    }
  });
});

it('a filter by an id of no such object finds nothing', async () => {
  for (const id of ['', ' ', '\0', '\ud800', 'x', users[0], '0', '-1', "' or 1=1 --", '😀'.repeat(1_000)]) {
    expect(await filtered('posts', { room: id })).toEqual([]);
    expect(await filtered('rooms', { member: id })).toEqual([]);
    if (id !== users[0]) expect(await filtered('posts', { author: id })).toEqual([]);
  }
});
