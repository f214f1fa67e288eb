// Runs on SQLite and on PostgreSQL.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeMembers, writePosts, writeRoom, writeUsers } from '../support/database/rows.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();

interface Arguments {
  first?: number | undefined;
  after?: string | undefined;
  last?: number | undefined;
  before?: string | undefined;
}

interface Edge {
  cursor: string;
  node: { id: string };
}

interface Connection {
  edges: Edge[];
  nodes: { id: string }[];
  pageInfo: { hasPreviousPage: boolean; hasNextPage: boolean; startCursor: string | null; endCursor: string | null };
}

type Field = 'posts' | 'members';

const declared = '$first: Int, $after: String, $last: Int, $before: String';
const selection = `{
  edges { cursor node { id } } nodes { id } pageInfo { hasPreviousPage hasNextPage startCursor endCursor }
}`;

async function read(room: string, field: Field, args: Arguments): Promise<Connection> {
  const query = `query ($room: ID!, ${declared}) {
    room(id: $room) { ${field}(first: $first, after: $after, last: $last, before: $before) ${selection} }
  }`;
  const { room: found } = await server.postroom.ask(query, { room, ...args });
  return found[field];
}

/** The pagination that Relay specifies, on an array. Both flags of `pageInfo` are exact in either direction. */
function model(all: readonly Edge[], present: ReadonlySet<string>, args: Arguments): Connection {
  const place = (cursor: string | undefined) => all.findIndex((edge) => edge.cursor === cursor);
  const after = args.after === undefined ? -1 : place(args.after);
  const before = args.before === undefined ? all.length : place(args.before);
  const standing = [...all.entries()].filter(([, { node }]) => present.has(node.id));
  let page = standing.filter(([index]) => index > after && index < before);
  if (args.first !== undefined || args.last === undefined) page = page.slice(0, args.first ?? 20);
  if (args.last !== undefined) page = page.slice(-args.last);
  const edges = page.map(([, edge]) => edge);
  const start = page[0]?.[0] ?? before;
  const end = page.at(-1)?.[0] ?? after;
  return {
    edges,
    nodes: edges.map(({ node }) => node),
    pageInfo: {
      hasPreviousPage: standing.some(([index]) => index < start),
      hasNextPage: standing.some(([index]) => index > end),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  };
}

let author: string;
beforeAll(() => {
  [author = ''] = writeUsers(server.databaseFile, [1]);
});

/** Creates a room with one row for each time. Several rows may have the same time. */
function fill(field: Field, times: number[]): { room: string; ids: string[] } {
  const file = server.databaseFile;
  const room = writeRoom(file);
  const ids = field === 'posts' ? writePosts(file, { room, author, times }) : writeMembers(file, room, times);
  return { room, ids };
}

function remove(field: Field, room: string, ids: readonly string[]): void {
  const [table, column] = field === 'posts' ? ['posts', 'id'] : ['roomMembers', 'userId'];
  withDatabase(server.databaseFile, (database) => {
    const statement = database.prepare(`delete from "${table}" where "roomId" = ? and "${column}" = ?`);
    for (const id of ids) statement.run(room, id);
  });
}

const length = fc.integer({ min: 1, max: 8 });
/** A fraction of the list's length; it becomes an index when the length is known. */
const share = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const scene = fc.record({
  times: fc.array(fc.integer({ min: 1_000, max: 1_004 }), { maxLength: 14 }),
  removed: fc.array(share, { maxLength: 4 }),
  asked: fc.array(fc.record({ first: length, last: length, after: share, before: share }, { requiredKeys: [] }), {
    minLength: 1,
    maxLength: 4,
  }),
});

describe.each<Field>(['posts', 'members'])('the %s of a room', (field) => {
  it('are paged like an array, by any first, after, last and before, also at equal times and from a removed item', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async ({ times, removed, asked }) => {
        const { room, ids } = fill(field, times);
        const { edges: all } = await read(room, field, { first: 100 });
        const at = (part: number | undefined) => (part === undefined ? undefined : all[Math.floor(part * all.length)]);
        const gone = removed.flatMap((part) => at(part)?.node.id ?? []);
        remove(field, room, gone);
        const present = new Set(ids.filter((id) => !gone.includes(id)));
        for (const { first, last, after, before } of asked) {
          const args = { first, last, after: at(after)?.cursor, before: at(before)?.cursor };
          expect(await read(room, field, args)).toEqual(model(all, present, args));
        }
      }),
      { numRuns: 60 },
    );
  });

  it('are in the order of (time, id), oldest first', async () => {
    const { room, ids } = fill(field, [5, 3, 3, 9, 3]);
    const { nodes } = await read(room, field, { first: 100 });
    expect(nodes.map(({ id }) => ids.indexOf(id))).toEqual([1, 2, 4, 0, 3]);
  });

  it('are the first 20 when neither first nor last is given', async () => {
    const { room, ids } = fill(
      field,
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
    const { nodes, pageInfo } = await read(room, field, {});
    expect(nodes.map(({ id }) => id)).toEqual(ids.slice(0, 20));
    expect(pageInfo).toMatchObject({ hasPreviousPage: false, hasNextPage: true });
  });

  it('take 1 to 100 for first and last, and report all invalid arguments together', async () => {
    const { room } = fill(field, [1]);
    const query = `query ($room: ID!, ${declared}) {
      room(id: $room) { ${field}(first: $first, after: $after, last: $last, before: $before) { nodes { id } } }
    }`;
    for (const taken of [{ first: 1 }, { first: 100 }, { last: 1 }, { last: 100 }]) {
      expect(await server.postroom.send(query, { room, ...taken })).toMatchObject({ status: 200 });
    }
    for (const refused of [0, -1, 101, 2_147_483_647, -2_147_483_648]) {
      const reply = await server.postroom.send(query, { room, first: refused, last: refused, after: 'x', before: '' });
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { room: null } });
      expect(reply.errors?.[0]?.extensions.details).toEqual([
        { field: 'first', issue: 'out_of_range' },
        { field: 'last', issue: 'out_of_range' },
        { field: 'after', issue: 'invalid' },
        { field: 'before', issue: 'invalid' },
      ]);
    }
  });

  it('refuse a cursor that they did not give out', async () => {
    const { room } = fill(field, [1]);
    const query = `query ($room: ID!, $after: String) { room(id: $room) { ${field}(after: $after) { nodes { id } } } }`;
    const encode = (text: string) => Buffer.from(text).toString('base64url');
    const forged = ['', ' ', 'null', room, '\0', '\ud800', '😀', encode('1'), encode('1:'), encode(':p1')];
    for (const after of [...forged, encode('1:P1'), encode('1e3:p1'), encode("1:p1' or 1=1"), 'A'.repeat(100_000)]) {
      const reply = await server.postroom.send(query, { room, after });
      expect(reply, JSON.stringify(after.slice(0, 30))).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
    }
    // A time that a number cannot hold exactly is still a valid position: it is after all items.
    const { data } = await server.postroom.send(query, { room, after: encode('9999999999999999:z') });
    expect(data.room[field].nodes).toEqual([]);
  });
});

it('the posts of a room contain no drafts on any page', async () => {
  const room = writeRoom(server.databaseFile);
  const ids = writePosts(server.databaseFile, { room, author, times: [3, null, 1, null, 2] });
  const published = [ids[2], ids[4], ids[0]];
  for (const args of [{ first: 100 }, { last: 100 }, {}]) {
    const { nodes, pageInfo } = await read(room, 'posts', args);
    expect(nodes.map(({ id }) => id)).toEqual(published);
    expect(pageInfo).toMatchObject({ hasPreviousPage: false, hasNextPage: false });
  }
});

it('a member edge says when the member joined', async () => {
  const room = writeRoom(server.databaseFile);
  writeMembers(server.databaseFile, room, [Date.UTC(2026, 0, 2, 3, 4, 5, 6)]);
  const { room: found } = await server.postroom.ask(
    'query ($room: ID!) { room(id: $room) { members { edges { joinedAt node { name } } } } }',
    { room },
  );
  expect(found.members.edges).toEqual([{ joinedAt: '2026-01-02T03:04:05.006Z', node: { name: 'user 0' } }]);
});
