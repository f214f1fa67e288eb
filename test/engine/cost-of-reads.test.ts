import { readFileSync } from 'node:fs';
import { Kind, parse, print } from 'graphql';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { tabs } from '../../src/transport/graphiql/tabs.ts';
import { post } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();
const { limits } = readConfig({});

async function costOf(query: string, variables: object = {}): Promise<number> {
  const { body } = await post(server.postroom, query, { variables, extensions: { cost: true } });
  const { extensions, errors } = JSON.parse(body);
  const [, refused] = /costs (\d+),/.exec(errors?.[0]?.message ?? '') ?? [];
  return Number(refused ?? extensions?.cost.requested);
}

const aliased = (count: number, field: (index: number) => string) =>
  `{ ${Array.from({ length: count }, (_, index) => `a${index}: ${field(index)}`).join(' ')} }`;

describe('a count', () => {
  const page = (selected: string) => `{ posts(limit: 1) { ${selected} } }`;

  it('is charged for what it reads, once for the total and the pages of one page', async () => {
    const without = await costOf(page('pagination { page limit }'));
    expect(await costOf(page('pagination { total }'))).toBe(without + 600);
    expect(await costOf(page('pagination { pages }'))).toBe(without + 600);
    expect(await costOf(page('pagination { page limit total pages again: total }'))).toBe(without + 600);
    const fragment = 'fragment count on Pagination { total ... { pages } }';
    expect(await costOf(`${page('pagination { ...count }')} ${fragment}`)).toBe(without + 600);
  });

  it('is charged for each page that is counted', async () => {
    expect(await costOf('{ users { pagination { total } } rooms { pagination { pages } } }')).toBe(2 * (2 + 600));
    const many = aliased(30, (index) => `posts(page: ${index + 1}, limit: 1) { pagination { total } }`);
    expect(await post(server.postroom, many)).toMatchObject({ status: 422, code: 'COST_LIMIT_EXCEEDED' });
  });
});

describe('the items before a page', () => {
  const query = 'query ($page: Int, $limit: Int) { posts(page: $page, limit: $limit) { data { id } } }';

  it.each([
    ['none before the first page', '{ posts(limit: 1) { data { id } } }', {}, 2],
    ['few', '{ posts(page: 15) { data { id } } }', {}, 21],
    ['in the document', '{ posts(page: 9000, limit: 1) { data { id } } }', {}, 2 + 29],
    ['by the default length of a page', '{ posts(page: 9000) { data { id } } }', {}, 21 + 599],
    ['in variables', query, { page: 9_000, limit: 1 }, 2 + 29],
    ['in a variable beside a default', query, { page: 9_000 }, 21 + 599],
    ['of variables that are null', query, { page: null, limit: null }, 21],
    ['of users', '{ users(page: 1501, limit: 1) { data { id } } }', {}, 2 + 5],
    ['of rooms', '{ rooms(page: 1501, limit: 1) { data { id } } }', {}, 2 + 5],
    ['of drafts', '{ viewer { drafts(page: 1501, limit: 1) { data { id } } } }', {}, 3 + 5],
  ])('are charged: %s', async (_, document, variables, cost) => {
    expect(await costOf(document, variables)).toBe(cost);
  });

  it('give no discount when a page is before the first, or a limit is negative', async () => {
    expect(await costOf(query, { page: -2_147_483_648, limit: 1 })).toBe(2);
    expect(await costOf(query, { page: 2_147_483_647, limit: -5 })).toBeGreaterThan(limits.cost);
  });

  it('are too many together in thirty deep pages', async () => {
    const many = aliased(30, (index) => `posts(page: ${9_000 - index}) { data { id } }`);
    expect(await post(server.postroom, many)).toMatchObject({ status: 422, code: 'COST_LIMIT_EXCEEDED' });
  });
});

it('the body of a post costs more than its other fields', async () => {
  expect(await costOf('{ posts(limit: 100) { data { id title body } } }')).toBe(1 + 100 * (1 + 5));
});

it('the rooms of the viewer are charged for their order, and each count of unread posts for what it reads', async () => {
  expect(await costOf('{ viewer { rooms(first: 10) { nodes { id } } } }')).toBe(1 + 50 + 10);
  expect(await costOf('{ viewer { rooms(first: 10) { nodes { unread lastRead } } } }')).toBe(1 + 50 + 10 * (1 + 5));
});

describe('an ordinary document stays far within LIMIT_COST:', () => {
  const lists = ['users', 'posts', 'rooms'].map(
    (
      field,
    ) => `${field}(limit: 20) { data { id ${field === 'posts' ? 'title body author { name } room { name }' : 'name'} }
      pagination { page limit total pages } }`,
  );
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const [, inReadme = ''] = /"query":"(\{ rooms .*?)"\}/.exec(readme) ?? [];
  const inTabs = tabs.flatMap(({ query }) =>
    parse(query).definitions.flatMap((node) =>
      node.kind === Kind.OPERATION_DEFINITION && node.operation === 'query' ? [print(node)] : [],
    ),
  );

  it.each([
    ['a page of an app with three lists', `{ ${lists.join(' ')} }`],
    ['the first query of the README', inReadme],
    ...inTabs.map((query) => ['a tab of GraphiQL', query]),
  ])('%s', async (_, query = '') => {
    const cost = await costOf(query);
    expect(cost).toBeGreaterThan(0);
    expect(cost).toBeLessThan(limits.cost / 2);
  });
});

describe('an operation that reads much', () => {
  /** Creates 100,000 posts, because counting them takes longer than a turn of the event loop. */
  function fill(): void {
    withDatabase(server.databaseFile, (database) => {
      database.exec(`insert into rooms ("id", "name", "head", "createdAt", "updatedAt", "version") values ('r', 'hall', 0, 0, 0, 1) on conflict do nothing;
        insert into users ("id", "name", "createdAt", "updatedAt", "version") values ('u', 'Ada', 0, 0, 1) on conflict do nothing;
        insert into posts with recursive n(i) as (select 1 union all select i + 1 from n where i < 100000)
          select 'p' || i, 'r', 'u', 'one of many', null, i, i, i, 1 from n where true on conflict do nothing;`);
    });
  }

  const totals = aliased(8, (index) => `posts(page: ${index + 1}, limit: 1) { pagination { total } }`);

  it('lets others be answered between its root fields', async () => {
    fill();
    const socket = await ProtocolSocket.open(server.postroom.webSocketUrl);
    socket.send(
      { type: 'subscribe', id: 'much', payload: { query: totals } },
      { type: 'subscribe', id: 'little', payload: { query: '{ posts(limit: 1) { data { id } } }' } },
    );
    const answers = [await socket.take(isNext), await socket.take(isNext)];
    expect(answers.map(({ id }) => id)).toEqual(['little', 'much']);
    expect(answers[1]?.payload.data.a7).toEqual({ pagination: { total: 100_000 } });
  });

  it('waits for others that cost as much, and callers take turns', async () => {
    fill();
    const { postroom } = server;
    const sockets = await Promise.all(
      ['Ada', 'Bob'].map(async (name) => {
        const { token } = await postroom.signUp(name);
        return ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${token}` } });
      }),
    );
    const [many, one] = sockets as [ProtocolSocket, ProtocolSocket];
    const count = 30;
    for (let index = 0; index < count; index += 1) many.subscribe(String(index), totals);
    await many.take(isNext);
    one.subscribe('one', totals);
    await one.take(isNext);
    const before = many.received.filter(isNext).length;
    expect(before).toBeLessThan(count / 2);
    for (let left = count - 1; left > 0; left -= 1) await many.take(isNext);
  });
});

function isNext({ type }: { type: string }): boolean {
  return type === 'next';
}
