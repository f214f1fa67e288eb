// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

let ada: Person;
let ids: { User: string; Room: string; Post: string };
beforeAll(async () => {
  ada = await server.postroom.signUp('Ada');
  const room = await server.postroom.createRoom(ada, scratchName());
  ids = { User: ada.id, Room: room, Post: await server.postroom.createPost(ada, room, 'title') };
});

const strange = [
  '',
  ' ',
  '0',
  '-1',
  'x',
  '\0',
  '\ud800',
  '😀',
  '__proto__',
  'constructor',
  "' or 1=1 --",
  'p'.repeat(100_000),
];
const byId = { User: 'user', Room: 'room', Post: 'post' } as const;
const types = Object.keys(byId) as (keyof typeof byId)[];

describe('an id', () => {
  it('is opaque, unique over all types, and ascends in the order of creation', async () => {
    const made: string[] = [];
    for (let n = 0; n < 20; n += 1) made.push(await server.postroom.createPost(ada, ids.Room, `post ${n}`));
    expect(made).toEqual([...made].sort());
    expect(new Set([...made, ...Object.values(ids)]).size).toBe(made.length + 3);
    for (const id of made) expect(id).toMatch(/^[0-9a-z]{27}$/);
  });

  it('is found by node, with the right type', async () => {
    for (const type of types) {
      const { node } = await server.postroom.ask('query ($id: ID!) { node(id: $id) { __typename id } }', {
        id: ids[type],
      });
      expect(node).toEqual({ __typename: type, id: ids[type] });
    }
  });

  it('of an object that does not exist gives null, whatever its form', async () => {
    const query =
      'query ($id: ID!) { node(id: $id) { id } user(id: $id) { id } room(id: $id) { id } post(id: $id) { id } }';
    // The first random character: ids of one millisecond differ only in their last ones.
    const changed = types.map((type) => ids[type].replace(/(?<=^.{11})./, (random) => (random === '0' ? '1' : '0')));
    const looksLikeOne = types.map((type) => ids[type].toUpperCase());
    for (const id of [...strange, ...changed, ...looksLikeOne]) {
      expect(await server.postroom.ask(query, { id }), JSON.stringify(id.slice(0, 40))).toEqual({
        node: null,
        user: null,
        room: null,
        post: null,
      });
    }
  });

  it('of another type gives null', async () => {
    for (const type of types) {
      for (const other of types.filter((each) => each !== type)) {
        const data = await server.postroom.ask(`query ($id: ID!) { ${byId[type]}(id: $id) { id } }`, {
          id: ids[other],
        });
        expect(data).toEqual({ [byId[type]]: null });
      }
    }
  });

  it('may be written as a whole number, which is read as text; any other value is not an id', async () => {
    for (const literal of ['5', '0', '-5', '99999999999999999999']) {
      expect(await server.postroom.send(`{ user(id: ${literal}) { id } }`)).toMatchObject({
        status: 200,
        data: { user: null },
      });
    }
    for (const literal of ['1.5', 'true', 'ENUM', '{ a: 1 }', 'null', '["x", "y"]']) {
      const reply = await server.postroom.send(`{ user(id: ${literal}) { id } }`);
      expect(reply, literal).toMatchObject({ status: 422, code: 'GRAPHQL_VALIDATION_FAILED' });
    }
    for (const value of [1.5, true, {}, [], ['x', 'y'], null]) {
      const reply = await server.postroom.send('query ($id: ID!) { user(id: $id) { id } }', { id: value });
      expect(reply, JSON.stringify(value)).toMatchObject({ status: 422, code: 'VARIABLES_INVALID' });
    }
  });
});

describe('a room’s name', () => {
  it('of a room that does not exist gives null, whatever its form', async () => {
    const query = 'query ($name: String!) { roomByName(name: $name) { id } }';
    for (const name of strange) expect(await server.postroom.ask(query, { name })).toEqual({ roomByName: null });
  });

  it('matches exactly: names that the database’s encoding would confuse are', async () => {
    const name = `${scratchName()} \ufffd`;
    await server.postroom.createRoom(ada, name);
    const query = 'query ($name: String!) { roomByName(name: $name) { name } }';
    expect(await server.postroom.ask(query, { name })).toEqual({ roomByName: { name } });
    for (const other of [name.replace('\ufffd', '\ud800'), name.toUpperCase(), `${name} `, `${name}\0`]) {
      expect(await server.postroom.ask(query, { name: other })).toEqual({ roomByName: null });
    }
  });
});

describe('a variable of the wrong type', () => {
  it.each([
    ['Int', 2_147_483_648],
    ['Int', -2_147_483_649],
    ['Int', 1e308],
    ['Int', 1.5],
    ['Int', '1'],
    ['Int', true],
    ['Int', []],
    ['Int', {}],
  ])('%s: %j is VARIABLES_INVALID', async (type, value) => {
    const reply = await server.postroom.send(`query ($page: ${type}) { users(page: $page) { data { id } } }`, {
      page: value,
    });
    expect(reply).toMatchObject({ status: 422, code: 'VARIABLES_INVALID', data: undefined });
  });

  it.each([
    '{ "name": 1 }',
    '{ "name": ["x"] }',
    '{ "createdAfter": 0 }',
    '{ "createdAfter": "" }',
    '{ "createdAfter": "yesterday" }',
    '{ "createdAfter": "2026-01-01" }',
    '{ "createdAfter": "2026-01-01T00:00:00" }',
    '{ "createdAfter": "2026-02-30T00:00:00Z" }',
    '{ "createdAfter": "2025-02-29T00:00:00Z" }',
    '{ "createdAfter": "2026-13-01T00:00:00Z" }',
    '{ "createdAfter": "2026-01-01T25:00:00Z" }',
    '{ "createdAfter": "2026-01-01T24:00:00Z" }',
    '{ "createdAfter": "2026-01-01T24:00:00.000Z" }',
    '{ "createdAfter": "2026-01-01T00:60:00Z" }',
    '{ "createdAfter": "2026-01-01 00:00:00Z" }',
    '{ "createdAfter": "2026-01-01T00:00:00.Z" }',
    '{ "createdAfter": "2026-01-01T00:00:00-03" }',
    '{ "createdAfter": "2026-01-01T00:00:00-00:00" }',
    '{ "createdAfter": "2026-01-01T00:00:00+24:00" }',
    '{ "createdAfter": "2026-01-01T00:00:00+03:30:15" }',
    '{ "createdAfter": "2026-01-01T00:00:00+99:99" }',
    '{ "createdAfter": "+275760-09-13T00:00:00.001Z" }',
    '{ "nothing": "of the kind" }',
    '{ "__proto__": { "name": "x" } }',
    '"text"',
    '[[]]',
    '7',
  ])('a filter %s is VARIABLES_INVALID', async (json) => {
    const query = 'query ($filter: UserFilter) { users(filter: $filter) { data { id } } }';
    const reply = await server.postroom.send(query, { filter: JSON.parse(json) });
    expect(reply).toMatchObject({ status: 422, code: 'VARIABLES_INVALID' });
  });

  it('is reported in a short message, however long the value is', async () => {
    const reply = await server.postroom.send('query ($page: Int) { users(page: $page) { data { id } } }', {
      page: 'x'.repeat(500_000),
    });
    expect(reply).toMatchObject({ status: 422, code: 'VARIABLES_INVALID' });
    expect(JSON.stringify(reply.errors).length).toBeLessThan(1_000);
  });
});

describe('a DateTime', () => {
  it.each([
    '2026-01-01T00:00:00Z',
    '2026-01-01T00:00:00.1Z',
    '2026-01-01T00:00:00.123456789Z',
    '2026-01-01T05:30:00+05:30',
    '2026-01-01T00:00:00.000+00:00',
    '2025-12-31T21:00:00.000-03:00',
    '2026-01-01t00:00:00.000z',
    '2026-01-01t05:30:00.000+05:30',
    '2024-02-29T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
  ])('is written as %s, with any offset', async (moment) => {
    const query = 'query ($moment: DateTime) { users(filter: { createdAfter: $moment }) { data { id } } }';
    expect(await server.postroom.send(query, { moment })).toMatchObject({ status: 200 });
    const literal = `{ users(filter: { createdAfter: "${moment}" }) { data { id } } }`;
    expect(await server.postroom.send(literal)).toMatchObject({ status: 200 });
  });

  it('that is invalid in the document does not pass validation', async () => {
    for (const literal of ['"2026-02-30T00:00:00Z"', '"now"', '1', 'true', '{ a: 1 }']) {
      const reply = await server.postroom.send(`{ users(filter: { createdAfter: ${literal} }) { data { id } } }`);
      expect(reply, literal).toMatchObject({ status: 422, code: 'GRAPHQL_VALIDATION_FAILED' });
      expect(reply.errors, literal).toEqual([expect.objectContaining({ locations: [{ line: 1, column: 33 }] })]);
    }
  });

  it('is the same time in each form', async () => {
    const expiresAt = '2099-01-01T00:00:00.120Z';
    const forms = [
      expiresAt,
      '2099-01-01t00:00:00.12z',
      '2099-01-01T05:30:00.120999+05:30',
      '2098-12-31t21:00:00.120-03:00',
    ];
    for (const form of forms) {
      const create = 'mutation ($input: CreateApiKeyInput!) { createApiKey(input: $input) { apiKey { expiresAt } } }';
      const input = { name: 'app', scopes: ['READ'], expiresAt: form };
      const { createApiKey } = await server.postroom.ask(create, { input }, ada.token);
      expect(createApiKey.apiKey).toEqual({ expiresAt });
    }
  });

  it('is returned in UTC with milliseconds', async () => {
    const { user } = await server.postroom.ask('query ($id: ID!) { user(id: $id) { createdAt updatedAt } }', {
      id: ada.id,
    });
    for (const moment of Object.values(user)) expect(moment).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });
});
