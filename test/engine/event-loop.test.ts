import { readFileSync } from 'node:fs';
import { buildSchema, type GraphQLInputObjectType, getNamedType, isInputObjectType } from 'graphql';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { manyRows, writeManyRows } from '../support/database/many-rows.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();
const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

beforeAll(() => writeManyRows(server.databaseFile));

/** For each condition a value; a search finds nothing, every other condition is met by many rows. */
const conditions: Record<string, string> = {
  'PostFilter.room': '"r1"',
  'PostFilter.author': '"u1"',
  'PostFilter.title': '"no title contains this"',
  'PostFilter.publishedAfter': '"1970-01-01T00:00:00Z"',
  'PostFilter.publishedBefore': '"2100-01-01T00:00:00Z"',
  'UserFilter.name': '"no name contains this"',
  'UserFilter.createdAfter': '"1970-01-01T00:00:00Z"',
  'UserFilter.createdBefore': '"2100-01-01T00:00:00Z"',
  'RoomFilter.name': '"no name contains this"',
  'RoomFilter.member': '"u1"',
  'RoomFilter.visibility': 'PUBLIC',
};

/** The fields of `Query` that return pages, with the types of their filters. */
const pages = Object.values(schema.getQueryType()?.getFields() ?? {}).flatMap(({ name, args, type }) => {
  const given = args.find((arg) => arg.name === 'filter')?.type;
  const filter = given && getNamedType(given);
  return isInputObjectType(filter) && getNamedType(type).name.endsWith('Page') ? [{ name, filter }] : [];
});

function filtersOf(filter: GraphQLInputObjectType): string[] {
  return Object.keys(filter.getFields()).map((name) => {
    const value = conditions[`${filter.name}.${name}`];
    if (value === undefined) throw new Error(`There is no value for ${filter.name}.${name}.`);
    return `{ ${name}: ${value} }`;
  });
}

/** Operations that read many rows; a page that skips all rows is the deepest. */
const long = [
  ...pages.flatMap(({ name, filter }) =>
    ['{}', ...filtersOf(filter)].flatMap((given) => [
      `{ ${name}(filter: ${given}, page: ${2 * manyRows + 1}, limit: 1) { data { id } } }`,
      `{ ${name}(filter: ${given}) { pagination { total } } }`,
    ]),
  ),
  // The viewer sees none of the posts before those of the other rooms.
  '{ posts { data { id } } }',
  '{ posts(filter: { room: "hidden" }) { data { id } } }',
  // After a short read.
  '{ room(id: "r1") { cursor } posts(filter: { title: "no title contains this" }) { data { id } } }',
];

/** Operations of a member that read many rows. */
const longOfMember = ['{ viewer { rooms(first: 1) { nodes { id } } } }', '{ room(id: "r2") { unread } }'];

/** A member of all rooms, who has written many posts in the room `r2` after the read position. */
async function signUpMember(): Promise<Person> {
  const execute = (sql: string) => withDatabase(server.databaseFile, (database) => database.exec(sql));
  const member = await server.postroom.signUp('Ada');
  execute(`begin;
      insert into "roomMembers" ("roomId", "userId", "joinedAt") select "id", '${member.id}', ${manyRows} from rooms;
      insert into posts ("id", "roomId", "authorId", "title", "publishedAt", "createdAt", "updatedAt", "version")
        select 'own' || "id", 'r2', '${member.id}', 'own', "publishedAt", 1, 1, 1 from posts where "roomId" = 'r1';
      commit`);
  onTestFinished(() => execute(`delete from posts where "authorId" = '${member.id}'`));
  return member;
}

/** A short operation that takes at least as many reads one after the other as a long one does before its long read. */
function shortFor(query: string) {
  const isNested = /^{ (user|room|viewer)\b/.test(query);
  return isNested
    ? {
        query: '{ user(id: "u1") { posts(last: 1) { room { id } } } }',
        data: { user: { posts: [{ room: { id: 'r1' } }] } },
      }
    : { query: '{ user(id: "u1") { id } }', data: { user: { id: 'u1' } } };
}

describe('an operation that reads much does not delay one that arrives with it:', () => {
  it.each(long)('%s', (query) => expectNoDelay(query));

  it('of a member', async () => {
    const { token } = await signUpMember();
    for (const query of longOfMember) await expectNoDelay(query, { authorization: `Bearer ${token}` });
  });

  async function expectNoDelay(query: string, init?: { authorization: string }) {
    const socket = await ProtocolSocket.open(server.postroom.webSocketUrl, { ...(init && { init }) });
    const short = shortFor(query);
    // One long read may be done before the event loop gets to the answer of the short one.
    const ids = ['long 1', 'long 2', 'long 3', 'long 4'];
    socket.send(...ids.map((id) => ({ type: 'subscribe', id, payload: { query } })), {
      type: 'subscribe',
      id: 'short',
      payload: { query: short.query },
    });
    const answers: unknown[] = [];
    while (answers.length <= ids.length) answers.push(await socket.take(isAnswer));
    expect(answers).toContainEqual({ type: 'next', id: 'short', payload: { data: short.data } });
    expect(answers.at(-1)).toMatchObject({
      type: 'next',
      id: expect.stringContaining('long'),
      payload: { data: expect.anything() },
    });
  }
});

it('long reads give the same rows as short ones', async () => {
  const { posts, users } = await server.postroom.ask(
    `{ posts(page: ${manyRows / 100}, limit: 100) { data { id author { id } room { id } } pagination { total } } users(page: 2, limit: 1) { data { id } } }`,
  );
  expect(posts.pagination).toEqual({ total: manyRows });
  expect(posts.data).toHaveLength(100);
  expect(posts.data.at(-1)).toEqual({ id: `p${manyRows}`, author: { id: 'u1' }, room: { id: 'r1' } });
  expect(users.data).toEqual([{ id: 'u2' }]);
});

function isAnswer({ type }: { type: string }): boolean {
  return type === 'next' || type === 'error';
}
