import type { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, it } from 'vitest';
import { change, InboxStream } from '../support/inbox/inbox-stream.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer({ LOG_LEVEL: 'debug' });

const post = '{ id title author { name } room { name } }';
const pageInfo = 'pageInfo { hasNextPage hasPreviousPage }';
const some = 'u00000000000000000000000000';
const cursor = Buffer.from(`1:${some}`).toString('base64url');

/** Queries, and for each an index that its plan must use. */
const queries: Record<string, [query: string, index: string]> = {
  'pages of posts': [`{ posts(page: 9000) { data ${post} pagination { total } } }`, 'postsByAge'],
  'newest posts first': [`{ posts(page: 9000, order: NEWEST_FIRST) { data ${post} } }`, 'postsByAge'],
  'newest posts of a room first': [
    `{ posts(filter: { room: "${some}" }, order: NEWEST_FIRST) { data ${post} } }`,
    'postsByRoom',
  ],
  'newest posts of an author first': [
    `{ posts(filter: { author: "${some}" }, order: NEWEST_FIRST) { data ${post} } }`,
    'postsByAuthor',
  ],
  'posts of a room': [`{ posts(filter: { room: "${some}" }) { data ${post} pagination { total } } }`, 'postsByRoom'],
  'posts of an author': [
    `{ posts(filter: { author: "${some}" }) { data ${post} pagination { total } } }`,
    'postsByAuthor',
  ],
  'posts of a room and author': [
    `{ posts(filter: { room: "${some}", author: "${some}" }) { data ${post} pagination { total } } }`,
    'postsByAuthor',
  ],
  'posts of a time': [
    `{ posts(filter: { publishedAfter: "2005-01-01T00:00:00Z", publishedBefore: "2006-01-01T00:00:00Z" }) { data ${post} pagination { total } } }`,
    'postsByAge',
  ],
  'posts by part of the title': [`{ posts(filter: { title: "a" }) { data ${post} } }`, 'postsByAge'],
  'pages of users': ['{ users(page: 700) { data { name } } }', 'usersByAge'],
  'users of a time': [
    '{ users(filter: { createdAfter: "2005-01-01T00:00:00Z" }) { data { name } pagination { total } } }',
    'usersByAge',
  ],
  'users with their last posts': ['{ users { data { posts(last: 10) { title } } } }', 'postsByAuthor'],
  'rooms of a member': [
    `{ rooms(filter: { member: "${some}" }) { data { name } pagination { total } } }`,
    'membersByUser',
  ],
  'a room by name': ['{ roomByName(name: "lobby") { name owner { name } } }', 'publicRoomsByName'],
  'pages of rooms': ['{ rooms(page: 700) { data { name } pagination { total } } }', 'publicRoomsByAge'],
  'things by id': [
    `{ node(id: "${some}") { id } user(id: "${some}") { name } post(id: "p${some.slice(1)}") { title } }`,
    'sqlite_autoindex_posts_1',
  ],
  'posts of a room from either end': [
    `{ roomByName(name: "lobby") { first: posts(first: 20) { nodes ${post} ${pageInfo} } last: posts(last: 20) { nodes ${post} ${pageInfo} } } }`,
    'postsByRoom',
  ],
  'posts of a room behind a cursor': [
    `{ roomByName(name: "lobby") { after: posts(after: "${cursor}") { nodes ${post} } before: posts(last: 20, before: "${cursor}") { nodes ${post} } } }`,
    'postsByRoom',
  ],
  'members of a room': [
    `{ roomByName(name: "lobby") { members(after: "${cursor}") { nodes { name } ${pageInfo} } last: members(last: 20) { nodes { name } } } }`,
    'membersByAge',
  ],
};

let ada: Person;
beforeAll(async () => {
  ada = await server.postroom.signUp('Ada');
  await server.postroom.createPost(ada, await server.postroom.createRoom(ada, 'lobby'), 'hello');
});

interface Plan {
  sql: string;
  steps: string[];
}

/** The query plans of the statements that an operation executes. */
async function plansOf(query: string, token?: string): Promise<Plan[]> {
  return plansDuring(async () => {
    const { errors } = await server.postroom.send(query, {}, token);
    expect(errors).toBeUndefined();
  });
}

async function plansDuring(work: () => Promise<unknown>): Promise<Plan[]> {
  const { log } = server.postroom;
  const before = log.length;
  await work();
  // Statements are logged after the response. The statement of a second operation marks the end of the first.
  await server.postroom.send('{ rooms(filter: { name: "the end" }) { data { id } } }');
  const statements = () => log.slice(before).flatMap(({ sql }) => (typeof sql === 'string' ? [sql] : []));
  await expect.poll(() => statements().some((sql) => sql.includes('lower("name")'))).toBe(true);
  const asked = statements().filter((sql) => /^(select|update) /.test(sql) && !sql.includes('lower("name")'));
  return withDatabase(server.databaseFile, (database) => {
    (database as DatabaseSync).function('may_read', (_rows) => 1);
    return asked.map((sql) => {
      const steps = database.prepare(`explain query plan ${sql}`).all();
      return { sql, steps: steps.map(({ detail }) => String(detail)) };
    });
  });
}

describe('the database uses indexes, and scans no table', () => {
  it.each(Object.entries(queries))('for %s', async (_, [query, index]) => {
    const plans = await plansOf(query);
    expect(plans.flatMap(({ steps }) => steps).join('\n')).toMatch(new RegExp(`INDEX ${index}\\b`));
    expect(
      plans.filter(({ steps }) =>
        steps.some((step) => /^SCAN (?!json_each |CONSTANT ROW|counted|.* USING )/.test(step)),
      ),
    ).toEqual([]);
  });

  it('and counts posts in an index only', async () => {
    const plans = await plansOf('{ posts { pagination { total } } }');
    expect(plans.flatMap(({ steps }) => steps)).toContain(
      'SEARCH posts USING COVERING INDEX postsByRoom (roomId=? AND publishedAt>?)',
    );
  });

  it('and reads no private rooms of others', async () => {
    const joined = [
      'SEARCH roomMembers USING COVERING INDEX membersByUser (userId=?)',
      'SEARCH rooms USING INDEX sqlite_autoindex_rooms_1 (id=?)',
    ];
    const stepsOf = async (query: string, table: string) => {
      const plans = await plansOf(query, ada.token);
      return plans.filter(({ sql }) => sql.includes(`"${table}"`)).flatMap(({ steps }) => steps);
    };
    expect(await stepsOf('{ rooms { data { id } } }', 'rooms')).toEqual([
      'MERGE (UNION ALL)',
      'LEFT',
      'SCAN rooms USING INDEX publicRoomsByAge',
      'RIGHT',
      ...joined,
      'USE TEMP B-TREE FOR ORDER BY',
    ]);
    expect(await stepsOf('{ roomByName(name: "none") { id } }', 'rooms')).toEqual([
      'SEARCH rooms USING INDEX publicRoomsByName (name=?)',
      ...joined,
      'USE TEMP B-TREE FOR ORDER BY',
    ]);
    const visible = [
      'SEARCH room USING INDEX sqlite_autoindex_rooms_1 (id=?)',
      'SEARCH roomMembers USING COVERING INDEX sqlite_autoindex_roomMembers_1 (roomId=? AND userId=?)',
    ];
    for (const query of ['{ posts { data { id } } }', '{ users { data { posts(last: 1) { id } } } }']) {
      const steps = await stepsOf(query, 'posts');
      expect(steps).toEqual(expect.arrayContaining(visible));
      expect(steps.filter((step) => /\brooms\b/.test(step))).toEqual([]);
    }
  });

  it('and reads only the rooms of an inbox, and in each the event by which the viewer has joined', async () => {
    const plans = await plansDuring(() => InboxStream.open(server.postroom, ada));
    const steps = plans.filter(({ sql }) => sql.includes('"joins"')).flatMap((plan) => plan.steps);
    expect(steps).toContainEqual(
      expect.stringMatching(/^SEARCH roomMembers USING .*INDEX membersByUser \(userId=\?\)/),
    );
    expect(steps).toContainEqual(
      expect.stringMatching(/^SEARCH joins USING INDEX membershipEvents \(subjectId=\? AND roomId=\?\)/),
    );
    expect(steps.filter((step) => /^SCAN (?!json_each )/.test(step))).toEqual([]);
  });

  it('and reads only the new events in the log of a user', async () => {
    const bob = await server.postroom.signUp('Bob');
    const room = await server.postroom.createRoom(ada, 'hall');
    const after = [await server.postroom.cursorOf(room)];
    await change(server.postroom, 'joinRoom', bob, room);
    const plans = await plansDuring(() => InboxStream.open(server.postroom, bob, { after }));
    const steps = plans.filter(({ sql }) => sql.includes('"userEvents"')).flatMap(({ steps }) => steps);
    expect(new Set(steps)).toEqual(
      new Set([
        'SEARCH userLogs USING INDEX sqlite_autoindex_userLogs_1 (userId=?)',
        'SEARCH userEvents USING INDEX sqlite_autoindex_userEvents_1 (userId=? AND seq>?) LEFT-JOIN',
        'SEARCH userEvents USING INDEX membershipChanges (userId=? AND seq>? AND seq<?)',
      ]),
    );
  });

  it('and reads only the rooms of a member, and in each the posts after the read position', async () => {
    const plans = await plansOf('{ viewer { rooms(first: 5) { nodes { unread } } } }', ada.token);
    const stepsOf = (part: string) => plans.filter(({ sql }) => sql.includes(part)).flatMap((plan) => plan.steps);
    expect(stepsOf('order by "headAt"')).toEqual([
      'SEARCH roomMembers USING COVERING INDEX membersByUser (userId=?)',
      'SEARCH rooms USING INDEX sqlite_autoindex_rooms_1 (id=?)',
      'USE TEMP B-TREE FOR ORDER BY',
    ]);
    const unread = stepsOf('as "unread"');
    expect(unread).toContain('SEARCH roomMembers USING INDEX membersByUser (userId=? AND roomId=?)');
    expect(unread).toContain('SEARCH posts USING INDEX postsByRoom (roomId=? AND publishedAt>? AND publishedAt<?)');
    expect(
      plans.flatMap(({ steps }) => steps).filter((step) => /^SCAN (?!json_each |unread|.* USING )/.test(step)),
    ).toEqual([]);
  });

  it('and reads no revoked key to list the keys of an owner, nor sorts them', async () => {
    const plans = await plansOf('{ viewer { apiKeys { id } } }', ada.token);
    const steps = plans.filter(({ sql }) => sql.includes('from "apiKeys"')).flatMap((plan) => plan.steps);
    expect(steps).toEqual(['SEARCH apiKeys USING INDEX apiKeysByOwner (ownerId=?)']);
  });

  it('and reads only the own keys of a user who is deleted', async () => {
    const bob = await server.postroom.signUp('Bob');
    const plans = await plansOf(`mutation { deleteUser(input: { id: "${bob.id}" }) { user { id } } }`, bob.token);
    const steps = plans.filter(({ sql }) => sql.startsWith('update "apiKeys"')).flatMap((plan) => plan.steps);
    expect(steps).not.toEqual([]);
    expect(steps.filter((step) => step.startsWith('SCAN'))).toEqual([]);
  });

  it('and does not sort the posts of a page: they are in the order of an index', async () => {
    const names = [
      'pages of posts',
      'newest posts first',
      'posts of a room',
      'newest posts of a room first',
      'posts of an author',
      'newest posts of an author first',
      'posts of a room from either end',
    ];
    for (const name of names) {
      const plans = await plansOf(queries[name]?.[0] ?? '');
      const pages = plans.filter(({ sql }) => sql.includes('from "posts"'));
      expect(pages).not.toEqual([]);
      expect(pages.filter(({ steps }) => steps.some((step) => step.includes('TEMP B-TREE')))).toEqual([]);
    }
  });
});
