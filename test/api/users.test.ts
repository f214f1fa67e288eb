// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const fields = '{ id name email version createdAt updatedAt }';
const update = `mutation ($input: UpdateUserInput!) { updateUser(input: $input) { user ${fields} } }`;
const replace = `mutation ($input: ReplaceUserInput!) { replaceUser(input: $input) { user ${fields} } }`;

const send = (query: string, input: Record<string, unknown>, person?: Person) =>
  server.postroom.send(query, { input }, person?.token);

describe('an e-mail', () => {
  it('is visible only to its owner, wherever the user is selected', async () => {
    const ada = await server.postroom.signUp('Ada');
    const bob = await server.postroom.signUp('Bob');
    const room = await server.postroom.createRoom(ada, scratchName());
    await server.postroom.createPost(ada, room, 'hello');
    const query = `query ($user: ID!, $room: ID!) {
      user(id: $user) { email } node(id: $user) { ... on User { email } }
      room(id: $room) { owner { email } members { nodes { email } edges { node { email } } } posts { nodes { author { email } } } }
      posts(filter: { author: $user }) { data { author { email } } }
    }`;
    const shown = async (token?: string) => {
      const data = await server.postroom.ask(query, { user: ada.id, room }, token);
      return [...JSON.stringify(data).matchAll(/"email":("[^"]*"|null)/g)].map(([, email]) => email);
    };
    expect(await shown(ada.token)).toEqual(Array(7).fill(`"${ada.email}"`));
    expect(await shown(bob.token)).toEqual(Array(7).fill('null'));
    expect(await shown()).toEqual(Array(7).fill('null'));
    const { viewer } = await server.postroom.ask('{ viewer { email } }', {}, ada.token);
    expect(viewer).toEqual({ email: ada.email });
  });

  it('is unique without regard to case, and is returned as it was written', async () => {
    const ada = await server.postroom.signUp('Ada');
    const bob = await server.postroom.signUp('Bob');
    const input = { id: ada.id, email: 'Ada.Lovelace@EXAMPLE.org' };
    expect((await send(update, input, ada)).data.updateUser.user.email).toBe('Ada.Lovelace@EXAMPLE.org');
    const taken = await send(update, { id: bob.id, email: 'ADA.lovelace@example.ORG' }, bob);
    expect(taken).toMatchObject({ status: 409, code: 'CONFLICT', data: { updateUser: null } });
    expect(await send(update, { id: ada.id, email: 'ADA.LOVELACE@example.org' }, ada)).toMatchObject({ status: 200 });
    const { user } = await server.postroom.ask('query ($id: ID!) { user(id: $id) { version } }', { id: bob.id });
    expect(user.version).toBe(1);
  });

  it('is free again once its owner has another or is deleted', async () => {
    const [ada, bob, eve] = await Promise.all(['Ada', 'Bob', 'Eve'].map((name) => server.postroom.signUp(name)));
    if (!ada || !bob || !eve) throw new Error('three were asked for');
    await send(update, { id: ada.id, email: 'other@example.org' }, ada);
    expect(await send(update, { id: bob.id, email: ada.email }, bob)).toMatchObject({ status: 200 });
    await send(
      'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }',
      { id: bob.id },
      bob,
    );
    expect(await send(update, { id: eve.id, email: ada.email }, eve)).toMatchObject({ status: 200 });
  });

  let ada: Person;
  beforeAll(async () => {
    ada = await server.postroom.signUp('Ada');
  });

  it.each([
    '',
    'ada',
    '@',
    'a@b',
    'a@b.',
    '@b.c',
    'a b@c.d',
    'a@b@c.d',
    'a\0@b.c',
    'a\t@b.c',
    'a@b.c\n',
    '\ud800@b.c',
  ])('of the form %j is refused', async (email) => {
    const reply = await send(update, { id: ada.id, email }, ada);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { updateUser: null } });
    const issue = email === '' ? 'too_short' : 'invalid';
    expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'email', issue }]);
  });

  it('has at most 254 characters, and is checked quickly however long it is', async () => {
    const ada = await server.postroom.signUp('Ada');
    const of = (length: number) => `${'a'.repeat(length - '@example.org'.length)}@example.org`;
    expect(await send(update, { id: ada.id, email: of(254) }, ada)).toMatchObject({ status: 200 });
    for (const email of [of(255), `a@${'.'.repeat(900_000)}`]) {
      const reply = await send(update, { id: ada.id, email }, ada);
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'email', issue: 'too_long' }]);
    }
  });
});

describe('updateUser', () => {
  it('changes only the fields given, and increases the version by 1', async () => {
    const ada = await server.postroom.signUp('Ada');
    const renamed = (await send(update, { id: ada.id, name: 'Countess' }, ada)).data.updateUser.user;
    expect(renamed).toMatchObject({ id: ada.id, name: 'Countess', email: ada.email, version: 2 });
    expect(Date.parse(renamed.updatedAt)).toBeGreaterThanOrEqual(Date.parse(renamed.createdAt));
    const moved = (await send(update, { id: ada.id, email: 'countess@example.org' }, ada)).data.updateUser.user;
    expect(moved).toMatchObject({ name: 'Countess', email: 'countess@example.org', version: 3 });
    const { user } = await server.postroom.ask(
      `query ($id: ID!) { user(id: $id) ${fields} }`,
      { id: ada.id },
      ada.token,
    );
    expect(user).toEqual(moved);
  });

  it('without a field changes nothing, not even the version', async () => {
    const ada = await server.postroom.signUp('Ada');
    const { user } = (await send(update, { id: ada.id, expectedVersion: 1 }, ada)).data.updateUser;
    expect(user).toMatchObject({ name: 'Ada', version: 1 });
  });

  it('refuses null for a field that must have a value', async () => {
    const ada = await server.postroom.signUp('Ada');
    const reply = await send(update, { id: ada.id, name: null, email: null }, ada);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { updateUser: null } });
    expect(reply.errors?.[0]?.extensions.details).toEqual([
      { field: 'name', issue: 'required' },
      { field: 'email', issue: 'required' },
    ]);
  });
});

describe('replaceUser', () => {
  it('sets every field', async () => {
    const ada = await server.postroom.signUp('Ada');
    const input = { id: ada.id, name: 'Countess', email: 'countess.replaced@example.org', expectedVersion: 1 };
    const { user } = (await send(replace, input, ada)).data.replaceUser;
    expect(user).toMatchObject({ name: 'Countess', email: 'countess.replaced@example.org', version: 2 });
  });

  it('refuses to remove the e-mail of a user with a password, whether absent or null', async () => {
    const ada = await server.postroom.signUp('Ada');
    for (const input of [
      { id: ada.id, name: 'Ada' },
      { id: ada.id, name: 'Ada', email: null },
    ]) {
      const reply = await send(replace, input, ada);
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'email', issue: 'required' }]);
    }
    const { viewer } = await server.postroom.ask('{ viewer { email version } }', {}, ada.token);
    expect(viewer).toEqual({ email: ada.email, version: 1 });
  });
});

describe.each([
  ['updateUser', update, { name: 'Eve' }],
  ['replaceUser', replace, { name: 'Eve', email: 'eve.replaced@example.org' }],
])('%s', (name, mutation, input) => {
  it('refuses any version but the current one', async () => {
    const ada = await server.postroom.signUp('Ada');
    for (const expectedVersion of [0, 2, -1, 2_147_483_647]) {
      const reply = await send(mutation, { id: ada.id, ...input, expectedVersion }, ada);
      expect(reply).toMatchObject({ status: 409, code: 'CONFLICT', data: { [name]: null } });
    }
    const { viewer } = await server.postroom.ask('{ viewer { name version } }', {}, ada.token);
    expect(viewer).toEqual({ name: 'Ada', version: 1 });
  });

  it('accepts one of many requests at the same version', async () => {
    const ada = await server.postroom.signUp('Ada');
    const email = `${ada.id}@example.org`;
    const all = await Promise.all(
      Array.from({ length: 8 }, () => send(mutation, { id: ada.id, ...input, email, expectedVersion: 1 }, ada)),
    );
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
  });

  it('is allowed only to the user itself: 401, 403 or 404 for all others, and nothing changes', async () => {
    const ada = await server.postroom.signUp('Ada');
    const bob = await server.postroom.signUp('Bob');
    const room = await server.postroom.createRoom(bob, scratchName());
    expect(await send(mutation, { id: ada.id, ...input })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(await send(mutation, { id: ada.id, ...input }, bob)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    for (const id of [room, 'nobody', '', '\0', '😀', `${ada.id}x`]) {
      expect(await send(mutation, { id, ...input }, bob)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
    const { viewer } = await server.postroom.ask('{ viewer { name version } }', {}, ada.token);
    expect(viewer).toEqual({ name: 'Ada', version: 1 });
  });

  it('reports every problem of the input together', async () => {
    const ada = await server.postroom.signUp('Ada');
    const bad = { id: ada.id, name: `${'x'.repeat(81)}\n`, email: 'nowhere' };
    const reply = await send(mutation, bad, ada);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR' });
    expect(reply.errors?.[0]?.extensions.details).toEqual([
      { field: 'name', issue: 'too_long' },
      { field: 'name', issue: 'invalid' },
      { field: 'email', issue: 'invalid' },
    ]);
  });
});

it('names of users are display names: several users may have the same name', async () => {
  const [one, two] = await Promise.all([server.postroom.signUp('Twin'), server.postroom.signUp('Twin')]);
  expect(one?.id).not.toBe(two?.id);
});
