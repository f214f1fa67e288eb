// Runs on SQLite and on PostgreSQL.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPostgresTest } from '../support/database/test-database.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { readEvents } from '../support/rooms/events.ts';
import { scratchName } from '../support/rooms/names.ts';
import { launchForTest, type Person, scratchFolder } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();

const deleteUser = `mutation ($input: DeleteUserInput!) {
  deleteUser(input: $input) { user { id name email version posts { id } drafts { data { id } } } }
}`;
const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';

const erase = (person: Person, input: Record<string, unknown> = {}) =>
  server.postroom.send(deleteUser, { input: { id: person.id, ...input } }, person.token);

/**
 * Creates a user with a room, a membership in another room, a post and a draft. `start` is the cursor of the other room
 * before the user joined it.
 */
async function makeLife() {
  const { postroom } = server;
  const [ada, bob] = await Promise.all([postroom.signUp('Ada Lovelace'), postroom.signUp('Bob')]);
  const shared = await postroom.createRoom(bob, scratchName());
  const { room } = await postroom.ask('query ($id: ID!) { room(id: $id) { cursor } }', { id: shared });
  const own = await postroom.createRoom(ada, scratchName());
  await postroom.ask(
    'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }',
    { room: shared },
    ada.token,
  );
  const post = await postroom.createPost(ada, shared, 'mine');
  const input = { room: shared, title: 'never', publish: false };
  const draft = (await postroom.ask(createPost, { input }, ada.token)).createPost.post.id;
  const theirs = await postroom.createPost(bob, own, 'theirs');
  return { ada, bob, shared, own, post, draft, theirs, start: room.cursor as string };
}

describe('deleteUser', () => {
  it('returns the user as it was, to that user', async () => {
    const { ada } = await makeLife();
    const { user } = (await erase(ada)).data.deleteUser;
    expect(user).toMatchObject({ id: ada.id, name: 'Ada Lovelace', email: ada.email, version: 1 });
    // The payload reads the drafts after the deletion.
    expect(user.drafts.data).toEqual([]);
  });

  it('keeps the id under the name "deleted user", so that an author is never missing', async () => {
    const { ada, post } = await makeLife();
    await erase(ada);
    const found = await server.postroom.ask(
      `query ($id: ID!, $post: ID!) {
        user(id: $id) { name email version drafts { data { id } } posts { id } }
        node(id: $id) { __typename }
        post(id: $post) { title version author { id name email } }
      }`,
      { id: ada.id, post },
    );
    expect(found).toEqual({
      user: { name: 'deleted user', email: null, version: 2, drafts: { data: [] }, posts: [{ id: post }] },
      node: { __typename: 'User' },
      post: { title: 'mine', version: 1, author: { id: ada.id, name: 'deleted user', email: null } },
    });
  });

  it('removes the user from the list of users and its count', async () => {
    const { ada } = await makeLife();
    await erase(ada);
    for (const name of ['Ada Lovelace', 'deleted user']) {
      const query =
        'query ($name: String) { users(limit: 100, filter: { name: $name }) { data { id } pagination { total } } }';
      const { users } = await server.postroom.ask(query, { name });
      expect(users.data).not.toContainEqual({ id: ada.id });
      expect(users.pagination.total).toBe(users.data.length);
    }
  });

  it('keeps the published posts and deletes the drafts', async () => {
    const { ada, post, draft, theirs } = await makeLife();
    await erase(ada);
    expect(readIds('posts')).toEqual(expect.arrayContaining([post, theirs]));
    expect(readIds('posts')).not.toContain(draft);
  });

  it('also deletes the published posts if the input asks for it', async () => {
    const { ada, shared, post, draft, theirs, start } = await makeLife();
    await erase(ada, { deletePosts: true });
    expect(readIds('posts')).toContain(theirs);
    for (const id of [post, draft]) expect(readIds('posts')).not.toContain(id);
    const events = await readEvents(server.postroom, { room: shared, after: start, count: 4 });
    expect(events).toMatchObject([
      { __typename: 'MemberJoined', user: null, actor: null },
      { __typename: 'PostCreated', post: null, actor: null },
      { __typename: 'PostDeleted', postId: post, actor: null },
      { __typename: 'MemberLeft', user: null, actor: null },
    ]);
  });

  it('removes the actor from the events of every room, and writes no event for a post that stays', async () => {
    const { ada, shared, post, start } = await makeLife();
    await erase(ada, { deletePosts: false });
    const events = await readEvents(server.postroom, { room: shared, after: start, count: 3 });
    expect(events).toMatchObject([
      { __typename: 'MemberJoined', user: null, actor: null },
      { __typename: 'PostCreated', post: { id: post }, actor: null },
      { __typename: 'MemberLeft', user: null, actor: null },
    ]);
    const { room } = await server.postroom.ask('query ($id: ID!) { room(id: $id) { cursor } }', { id: shared });
    expect(events.at(-1)?.cursor).toBe(room.cursor);
    const actors = withDatabase(server.databaseFile, (database) =>
      database.prepare('select count(*) as n from "roomEvents" where "actorId" = ?').get(ada.id),
    );
    expect(actors).toEqual({ n: 0 });
  });

  it('erases the API keys of the user, revoked ones included, with the accounts of their applications; their posts remain', async () => {
    const { ada, bob, shared } = await makeLife();
    const { postroom } = server;
    const posts: string[] = [];
    for (const name of ['Ada on the phone', 'Ada at work']) {
      const create =
        'mutation ($name: String!) { createApiKey(input: { name: $name, scopes: [READ, WRITE] }) { key apiKey { id } } }';
      const { key, apiKey } = (await postroom.ask(create, { name }, ada.token)).createApiKey;
      const input = { room: shared, title: name };
      const { data } = await sendAs(postroom, `ApiKey ${key}`, createPost, { input });
      const join = 'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }';
      expect(await sendAs(postroom, `ApiKey ${key}`, join, { room: shared })).toMatchObject({ status: 200 });
      posts.push(data.createPost.post.id);
      const revoke = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }';
      if (name === 'Ada on the phone') await postroom.ask(revoke, { id: apiKey.id }, ada.token);
    }
    expect((await erase(ada)).status).toBe(200);
    const query = 'query ($id: ID!) { post(id: $id) { title author { name } room { members { nodes { name } } } } }';
    for (const id of posts)
      expect((await postroom.ask(query, { id })).post).toMatchObject({
        title: expect.stringMatching(/^Ada /),
        author: { name: 'deleted user' },
      });
    const members = async () => (await postroom.ask(query, { id: posts[0] })).post.room.members.nodes;
    await expect.poll(members).toEqual([{ name: 'Bob' }]);
    const named = withDatabase(server.databaseFile, (database) =>
      ['users', 'apiKeys'].map((table) =>
        database.prepare(`select count(*) as n from "${table}" where name like 'Ada on%' or name like 'Ada at%'`).get(),
      ),
    );
    expect(named).toEqual([{ n: 0 }, { n: 0 }]);
    expect(await postroom.ask('{ viewer { name } }', {}, bob.token)).toEqual({ viewer: { name: 'Bob' } });
  });

  it('leaves the rooms of the user without an owner, and writes an event about it in each', async () => {
    const { ada, bob, own } = await makeLife();
    const before = await server.postroom.ask('query ($id: ID!) { room(id: $id) { cursor } }', { id: own });
    await erase(ada);
    const { room } = await server.postroom.ask(
      'query ($id: ID!) { room(id: $id) { version owner { id } members { nodes { id } } posts { nodes { title } } } }',
      { id: own },
    );
    expect(room).toEqual({ version: 2, owner: null, members: { nodes: [] }, posts: { nodes: [{ title: 'theirs' }] } });
    const events = await readEvents(server.postroom, { room: own, after: before.room.cursor, count: 2 });
    expect(events).toMatchObject([{ __typename: 'MemberLeft' }, { __typename: 'RoomUpdated', actor: null }]);
    const update = 'mutation ($id: ID!) { updateRoom(input: { id: $id, name: "mine now" }) { room { id } } }';
    expect(await server.postroom.send(update, { id: own }, bob.token)).toMatchObject({
      status: 403,
      code: 'FORBIDDEN',
    });
  });

  it('ends every membership', async () => {
    const { ada, bob, shared } = await makeLife();
    await erase(ada);
    const { rooms, room } = await server.postroom.ask(
      'query ($user: ID!, $room: ID!) { rooms(filter: { member: $user }) { pagination { total } } room(id: $room) { members { nodes { id } } } }',
      { user: ada.id, room: shared },
    );
    expect(rooms.pagination.total).toBe(0);
    expect(room.members.nodes).toEqual([{ id: bob.id }]);
  });

  it('ends the sessions and revokes the password', async () => {
    const { ada } = await makeLife();
    await erase(ada);
    expect(await server.postroom.send('{ viewer { id } }', {}, ada.token)).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
    });
    const signIn = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
    const { email, password } = ada;
    expect(await server.postroom.send(signIn, { input: { email, password } })).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
    });
  });

  it('is allowed only to the user itself', async () => {
    const { ada, bob, own } = await makeLife();
    const send = (id: string, token?: string) => server.postroom.send(deleteUser, { input: { id } }, token);
    expect(await send(ada.id)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED', data: { deleteUser: null } });
    expect(await send(ada.id, bob.token)).toMatchObject({ status: 403, code: 'FORBIDDEN', data: { deleteUser: null } });
    for (const id of [own, '', 'nobody', '\0']) {
      expect(await send(id, bob.token)).toMatchObject({ status: 404, code: 'NOT_FOUND', data: { deleteUser: null } });
    }
    await erase(bob);
    expect(await send(bob.id, ada.token)).toMatchObject({ status: 404, code: 'NOT_FOUND', data: { deleteUser: null } });
    expect((await server.postroom.ask('{ viewer { name } }', {}, ada.token)).viewer).toEqual({ name: 'Ada Lovelace' });
  });
});

describe('a user who has deleted their account', () => {
  const changes = {
    createRoom: 'createRoom(input: { name: "too late" }) { room { id } }',
    joinRoom: 'joinRoom(input: { room: $room }) { room { id } }',
    leaveRoom: 'leaveRoom(input: { room: $room }) { room { id } }',
    createPost: 'createPost(input: { room: $room, title: "too late" }) { post { id } }',
    updateUser: 'updateUser(input: { id: $id, name: "too late" }) { user { id } }',
    updatePost: 'updatePost(input: { id: $post, title: "too late" }) { post { id } }',
    deletePost: 'deletePost(input: { id: $post }) { post { id } }',
    renewSession: 'renewSession { accessToken }',
  };

  it.each(
    Object.keys(changes) as (keyof typeof changes)[],
  )('changes nothing more, not even in the same request: %s', async (name) => {
    const { ada, shared, post } = await makeLife();
    const used = ['room', 'post'].filter((variable) => changes[name].includes(`$${variable}`));
    const query = `mutation ($id: ID!${used.map((variable) => `, $${variable}: ID!`).join('')}) {
      deleteUser(input: { id: $id }) { user { id } } ${changes[name]}
    }`;
    const reply = await server.postroom.send(query, { id: ada.id, room: shared, post }, ada.token);
    expect(reply).toMatchObject({
      status: 294,
      code: 'UNAUTHENTICATED',
      data: { deleteUser: { user: {} }, [name]: null },
    });
    const { user, room } = await server.postroom.ask(
      'query ($id: ID!, $room: ID!) { user(id: $id) { name posts { title } } room(id: $room) { members { nodes { id } } } }',
      { id: ada.id, room: shared },
    );
    expect(user).toEqual({ name: 'deleted user', posts: [{ title: 'mine' }] });
    expect(room.members.nodes).not.toContainEqual({ id: ada.id });
  });
});

// What PostgreSQL keeps in its files is documented.
it.skipIf(isPostgresTest).each([
  ['', deleteUser],
  [
    ', even where the answer says where rooms stood before',
    'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id posts { room { cursor } } } } }',
  ],
])('the content of an erased account is nowhere in the files of the database%s', async (_title, mutation) => {
  const folder = scratchFolder();
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` });
  const neighbours = await Promise.all(['Bob', 'Eve', 'Mallory'].map((name) => postroom.signUp(name)));
  const ada = await postroom.signUp('Ada Lovelace The Erased');
  const room = await postroom.createRoom(ada, 'analytical engine');
  const input = { room, title: 'a draft of the first program', body: 'Bernoulli numbers '.repeat(500), publish: false };
  await postroom.ask(createPost, { input }, ada.token);
  const createKey = 'mutation { createApiKey(input: { name: "the phone of Ada", scopes: [READ] }) { apiKey { id } } }';
  const { createApiKey } = await postroom.ask(createKey, {}, ada.token);
  const revoke = 'mutation ($id: ID!) { revokeApiKey(input: { id: $id }) { apiKey { id } } }';
  await postroom.ask(revoke, { id: createApiKey.apiKey.id }, ada.token);
  await postroom.ask(createKey.replace('phone', 'laptop'), {}, ada.token);
  const { passwordHash } = withDatabase(join(folder, 'postroom.db'), (database) =>
    database.prepare('select "passwordHash" from users where id = ?').get(ada.id),
  ) as { passwordHash: string };
  const traces = [
    'Ada Lovelace The Erased',
    ada.email,
    passwordHash,
    'a draft of the first program',
    'Bernoulli numbers',
    'the phone of Ada',
    'the laptop of Ada',
  ];
  const found = () => {
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    return traces.filter((trace) => files.some((bytes) => bytes.includes(trace)));
  };
  expect(found()).toEqual(traces);
  await postroom.ask(mutation, { input: { id: ada.id } }, ada.token);
  // The content must be gone while the server runs, and also after it has stopped.
  expect(found()).toEqual([]);
  await postroom.stop();
  expect(found()).toEqual([]);
  expect(readFileSync(join(folder, 'postroom.db')).includes(neighbours[0]?.email ?? '')).toBe(true);
});

function readIds(table: 'posts'): string[] {
  return withDatabase(server.databaseFile, (database) =>
    database
      .prepare(`select id from ${table}`)
      .all()
      .map(({ id }) => String(id)),
  );
}
