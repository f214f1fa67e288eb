// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { writePosts } from '../support/database/rows.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const fields = '{ id title body version publishedAt createdAt updatedAt author { id } room { id } }';
const create = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post ${fields} } }`;
const update = `mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post ${fields} } }`;
const replace = `mutation ($input: ReplacePostInput!) { replacePost(input: $input) { post ${fields} } }`;
const publish = `mutation ($input: PublishPostInput!) { publishPost(input: $input) { post ${fields} } }`;
const remove = `mutation ($input: DeletePostInput!) { deletePost(input: $input) { post ${fields} } }`;

const send = (query: string, input: Record<string, unknown>, person?: Person) =>
  server.postroom.send(query, { input }, person?.token);

async function find(id: string) {
  const { post } = await server.postroom.ask(`query ($id: ID!) { post(id: $id) ${fields} }`, { id });
  return post;
}

let author: Person;
let other: Person;
let room: string;
beforeAll(async () => {
  [author, other] = await Promise.all([server.postroom.signUp('Author'), server.postroom.signUp('Other')]);
  room = await server.postroom.createRoom(other, scratchName());
});

const makePost = () => server.postroom.createPost(author, room, 'title', 'body');

describe('createPost', () => {
  it('publishes at once, also in a room of another owner', async () => {
    for (const extra of [{}, { publish: null }, { publish: true }]) {
      const { post } = (await send(create, { room, title: 'hello', body: 'world', ...extra }, author)).data.createPost;
      expect(post).toMatchObject({
        title: 'hello',
        body: 'world',
        version: 1,
        author: { id: author.id },
        room: { id: room },
      });
      expect(post.publishedAt).toBe(post.createdAt);
      expect(post.updatedAt).toBe(post.createdAt);
      expect(await find(post.id)).toEqual(post);
    }
  });

  it('distinguishes an empty body from an absent one', async () => {
    const bodyOf = async (input: object) =>
      (await send(create, { room, title: 't', ...input }, author)).data.createPost.post.body;
    expect(await bodyOf({})).toBeNull();
    expect(await bodyOf({ body: null })).toBeNull();
    expect(await bodyOf({ body: '' })).toBe('');
  });

  it('is allowed to every signed-in user, in a room that exists', async () => {
    expect(await send(create, { room, title: 't' })).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
      data: { createPost: null },
    });
    for (const unknown of ['', 'nowhere', '\0', author.id]) {
      const reply = await send(create, { room: unknown, title: 't' }, author);
      expect(reply).toMatchObject({ status: 404, code: 'NOT_FOUND', data: { createPost: null } });
    }
  });

  it('reports every problem of the input together', async () => {
    const reply = await send(create, { room, title: ' ', body: `${'x'.repeat(20_001)}\0` }, author);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { createPost: null } });
    expect(reply.errors?.[0]?.extensions.details).toEqual([
      { field: 'title', issue: 'too_short' },
      { field: 'body', issue: 'too_long' },
      { field: 'body', issue: 'invalid' },
    ]);
  });
});

describe('updatePost', () => {
  it('changes only the fields given, null included, and increases the version by 1', async () => {
    const id = await makePost();
    const { publishedAt } = await find(id);
    const changed = async (input: object) => (await send(update, { id, ...input }, author)).data.updatePost.post;
    expect(await changed({ title: 'new' })).toMatchObject({ title: 'new', body: 'body', version: 2, publishedAt });
    expect(await changed({ body: 'other' })).toMatchObject({ title: 'new', body: 'other', version: 3, publishedAt });
    expect(await changed({ body: null })).toMatchObject({ title: 'new', body: null, version: 4, publishedAt });
    expect(await find(id)).toMatchObject({ title: 'new', body: null, version: 4, publishedAt });
  });

  it('without a field changes nothing, not even the version', async () => {
    const id = await makePost();
    const before = await find(id);
    expect((await send(update, { id, expectedVersion: 1 }, author)).data.updatePost.post).toEqual(before);
  });

  it('refuses null for the title', async () => {
    const reply = await send(update, { id: await makePost(), title: null }, author);
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { updatePost: null } });
    expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'title', issue: 'required' }]);
  });
});

describe('replacePost', () => {
  it('sets every field, and clears a body that is absent', async () => {
    const id = await makePost();
    const replaced = async (input: object) => (await send(replace, { id, ...input }, author)).data.replacePost.post;
    expect(await replaced({ title: 'a', body: 'b' })).toMatchObject({ title: 'a', body: 'b', version: 2 });
    expect(await replaced({ title: 'a' })).toMatchObject({ title: 'a', body: null, version: 3 });
    expect(await find(id)).toMatchObject({ title: 'a', body: null, version: 3 });
  });
});

describe.each([
  ['updatePost', update, { title: 'changed' }],
  ['replacePost', replace, { title: 'changed' }],
  ['deletePost', remove, {}],
])('%s', (name, query, input) => {
  it('refuses any version but the current one', async () => {
    const id = await makePost();
    const before = await find(id);
    for (const expectedVersion of [0, 2, -1, 2_147_483_647]) {
      const reply = await send(query, { id, ...input, expectedVersion }, author);
      expect(reply).toMatchObject({ status: 409, code: 'CONFLICT', data: { [name]: null } });
    }
    expect(await find(id)).toEqual(before);
    expect(await send(query, { id, ...input, expectedVersion: 1 }, author)).toMatchObject({ status: 200 });
    expect((await find(id))?.version).toBe(name === 'deletePost' ? undefined : 2);
  });

  it('accepts one of many requests at the same version', async () => {
    const id = await makePost();
    const all = await Promise.all(
      Array.from({ length: 8 }, () => send(query, { id, ...input, expectedVersion: 1 }, author)),
    );
    const refused = name === 'deletePost' ? 404 : 409;
    expect(all.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(refused)]);
  });
});

describe.each([
  ['updatePost', update, { title: 'changed' }],
  ['replacePost', replace, { title: 'changed' }],
  ['publishPost', publish, {}],
  ['deletePost', remove, {}],
])('%s', (_, query, input) => {
  it('is allowed only to the author: 401, 403 or 404 for all others, the owner of the room included, and nothing changes', async () => {
    const id = await makePost();
    const before = await find(id);
    expect(await send(query, { id, ...input })).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    expect(await send(query, { id, ...input }, other)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    for (const unknown of [room, author.id, 'nothing', '', '\0', `${id}x`]) {
      expect(await send(query, { id: unknown, ...input }, author)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    }
    expect(await find(id)).toEqual(before);
  });
});

describe('deletePost', () => {
  it('returns the post as it was, and the post is in no field afterwards', async () => {
    const id = await makePost();
    const before = await find(id);
    expect((await send(remove, { id }, author)).data.deletePost.post).toEqual(before);
    const gone = await server.postroom.ask(
      'query ($id: ID!, $room: ID!) { post(id: $id) { id } node(id: $id) { id } room(id: $room) { posts(last: 100) { nodes { id } } } }',
      { id, room },
    );
    expect(gone).toMatchObject({ post: null, node: null });
    expect(gone.room.posts.nodes).not.toContainEqual({ id });
    expect(await send(remove, { id }, author)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  });
});

describe('the last posts of a user', () => {
  const query = 'query ($id: ID!, $last: Int = 10) { user(id: $id) { posts(last: $last) { id } } }';

  it('are the last n by (publishedAt, id), newest last, without drafts', async () => {
    const writer = await server.postroom.signUp('Writer');
    const ids = writePosts(server.databaseFile, { room, author: writer.id, times: [5, 9, null, 5, 1, 9] });
    const last = async (n?: number) => {
      const { user } = await server.postroom.ask(query, { id: writer.id, last: n });
      return user.posts.map(({ id }: { id: string }) => ids.indexOf(id));
    };
    expect(await last(1)).toEqual([5]);
    expect(await last(3)).toEqual([3, 1, 5]);
    expect(await last(100)).toEqual([4, 0, 3, 1, 5]);
    expect(await last()).toEqual([4, 0, 3, 1, 5]);
  });

  it('are 10 without an argument, also if it is null', async () => {
    const writer = await server.postroom.signUp('Writer');
    const ids = writePosts(server.databaseFile, { room, author: writer.id, times: Array(12).fill(7) });
    for (const argument of ['', '(last: null)']) {
      const { user } = await server.postroom.ask(`query ($id: ID!) { user(id: $id) { posts${argument} { id } } }`, {
        id: writer.id,
      });
      expect(user.posts.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2));
    }
  });

  it('of many users, and of one user with several lengths, are not mixed', async () => {
    const [one, another] = [await server.postroom.signUp('One'), await server.postroom.signUp('Another')];
    const ids = writePosts(server.databaseFile, { room, author: one.id, times: [1, 2, 3] });
    writePosts(server.databaseFile, { room, author: another.id, times: [4] });
    const data = await server.postroom.ask(
      `query ($a: ID!, $b: ID!) { a: user(id: $a) { one: posts(last: 1) { id } two: posts(last: 2) { id } } b: user(id: $b) { posts(last: 1) { author { id } } } }`,
      { a: one.id, b: another.id },
    );
    expect(data.a).toEqual({ one: [{ id: ids[2] }], two: [{ id: ids[1] }, { id: ids[2] }] });
    expect(data.b).toEqual({ posts: [{ author: { id: another.id } }] });
  });

  it('take 1 to 100', async () => {
    for (const last of [1, 100])
      expect(await server.postroom.send(query, { id: author.id, last })).toMatchObject({ status: 200 });
    for (const last of [0, 101, -1, 2_147_483_647]) {
      const reply = await server.postroom.send(query, { id: author.id, last });
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { user: null } });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'last', issue: 'out_of_range' }]);
    }
  });
});
