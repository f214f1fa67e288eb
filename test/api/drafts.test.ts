// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { readEvents } from '../support/rooms/events.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

const fields = '{ id title body version publishedAt createdAt }';
const mutation = (name: string) => {
  const input = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
  return `mutation ($input: ${input}!) { ${name}(input: $input) { post ${fields} } }`;
};
const change = async (name: string, input: Record<string, unknown>, person?: Person) => {
  const reply = await server.postroom.send(mutation(name), { input }, person?.token);
  return { ...reply, post: reply.data?.[name]?.post };
};

let author: Person;
let other: Person;
beforeAll(async () => {
  [author, other] = await Promise.all([server.postroom.signUp('Author'), server.postroom.signUp('Other')]);
});

async function makeDraft(title = 'draft'): Promise<{ room: string; id: string }> {
  const room = await server.postroom.createRoom(other, scratchName());
  const { post } = await change('createPost', { room, title, body: 'not yet', publish: false }, author);
  return { room, id: post.id };
}

const everywhere = `query ($id: ID!, $room: ID!, $author: ID!) {
  post(id: $id) { id } node(id: $id) { id }
  byRoom: posts(filter: { room: $room }) { data { id } pagination { total pages } }
  byAuthor: posts(filter: { author: $author, room: $room }) { data { id } pagination { total } }
  room(id: $room) { posts { nodes { id } pageInfo { hasNextPage hasPreviousPage } } }
  user(id: $author) { posts(last: 100) { room { id } id } drafts { data { id } pagination { total pages } } }
}`;

const nowhere = {
  post: null,
  node: null,
  byRoom: { data: [], pagination: { total: 0, pages: 0 } },
  byAuthor: { data: [], pagination: { total: 0 } },
  room: { posts: { nodes: [], pageInfo: { hasNextPage: false, hasPreviousPage: false } } },
};

async function look(draft: { room: string; id: string }, person?: Person) {
  const found = await server.postroom.ask(everywhere, { ...draft, author: author.id }, person?.token);
  const { user, ...rest } = found;
  return { ...rest, last: user.posts.filter(({ id }: { id: string }) => id === draft.id), drafts: user.drafts };
}

describe('a draft', () => {
  it('does not exist for any user but its author, in any field', async () => {
    const draft = await makeDraft();
    for (const person of [undefined, other]) {
      const drafts = { data: [], pagination: { total: 0, pages: 0 } };
      expect(await look(draft, person)).toEqual({ ...nowhere, last: [], drafts });
    }
  });

  it('is visible to its author by id and in viewer.drafts, and is in no list, count or connection', async () => {
    const draft = await makeDraft();
    const { drafts, ...seen } = await look(draft, author);
    expect(seen).toEqual({ ...nowhere, post: { id: draft.id }, node: { id: draft.id }, last: [] });
    expect(drafts.data).toContainEqual({ id: draft.id });
  });

  it('has no time of publishing, and can be changed like any post', async () => {
    const draft = await makeDraft();
    const changed = (await change('updatePost', { id: draft.id, title: 'better' }, author)).post;
    expect(changed).toMatchObject({ title: 'better', body: 'not yet', version: 2, publishedAt: null });
    const replaced = (await change('replacePost', { id: draft.id, title: 'best', expectedVersion: 2 }, author)).post;
    expect(replaced).toMatchObject({ title: 'best', body: null, version: 3, publishedAt: null });
    const deleted = await change('deletePost', { id: draft.id, expectedVersion: 3 }, author);
    expect(deleted.post).toEqual(replaced);
    expect((await look(draft, author)).post).toBeNull();
  });

  it('is NOT_FOUND for any other user who tries to change it', async () => {
    const { id } = await makeDraft();
    const cases = { updatePost: { title: 'mine' }, replacePost: { title: 'mine' }, publishPost: {}, deletePost: {} };
    for (const [name, input] of Object.entries(cases)) {
      expect(await change(name, { id, ...input }, other)).toMatchObject({
        status: 404,
        code: 'NOT_FOUND',
        data: { [name]: null },
      });
      expect(await change(name, { id, ...input })).toMatchObject({
        status: 401,
        code: 'UNAUTHENTICATED',
        data: { [name]: null },
      });
    }
    const { post } = await server.postroom.ask(`query ($id: ID!) { post(id: $id) ${fields} }`, { id }, author.token);
    expect(post).toMatchObject({ title: 'draft', version: 1, publishedAt: null });
  });
});

describe('viewer.drafts', () => {
  it('is a page of the drafts of the viewer, oldest first', async () => {
    const writer = await server.postroom.signUp('Writer');
    const room = await server.postroom.createRoom(writer, scratchName());
    const ids: string[] = [];
    for (const title of ['one', 'two', 'three']) {
      ids.push((await change('createPost', { room, title, publish: false }, writer)).post.id);
    }
    await server.postroom.createPost(writer, room, 'published');
    const read = async (args: string) =>
      (
        await server.postroom.ask(
          `{ viewer { drafts${args} { data { id } pagination { page limit total pages } } } }`,
          {},
          writer.token,
        )
      ).viewer.drafts;
    expect(await read('')).toEqual({
      data: ids.map((id) => ({ id })),
      pagination: { page: 1, limit: 20, total: 3, pages: 1 },
    });
    expect(await read('(page: 2, limit: 2)')).toEqual({
      data: [{ id: ids[2] }],
      pagination: { page: 2, limit: 2, total: 3, pages: 2 },
    });
    expect(await read('(page: 10000, limit: 100)')).toMatchObject({ data: [] });
    const beyond = await server.postroom.send(
      '{ viewer { drafts(page: 0, limit: 101) { data { id } } } }',
      {},
      writer.token,
    );
    expect(beyond.errors?.[0]?.extensions.details).toEqual([
      { field: 'page', issue: 'out_of_range' },
      { field: 'limit', issue: 'out_of_range' },
    ]);
  });

  it('is null without credentials, because the viewer is null', async () => {
    expect(await server.postroom.ask('{ viewer { drafts { data { id } } } }')).toEqual({ viewer: null });
  });
});

describe('publishing', () => {
  it('is a change: the version increases, and the post is in every list', async () => {
    const draft = await makeDraft();
    const { post } = await change('publishPost', { id: draft.id }, author);
    expect(post).toMatchObject({ id: draft.id, title: 'draft', body: 'not yet', version: 2 });
    expect(Date.parse(post.publishedAt)).toBeGreaterThanOrEqual(Date.parse(post.createdAt));
    const one = { id: draft.id };
    for (const person of [undefined, other, author]) {
      const { drafts, last, ...seen } = await look(draft, person);
      expect(seen).toEqual({
        post: one,
        node: one,
        byRoom: { data: [one], pagination: { total: 1, pages: 1 } },
        byAuthor: { data: [one], pagination: { total: 1 } },
        room: { posts: { nodes: [one], pageInfo: { hasNextPage: false, hasPreviousPage: false } } },
      });
      expect(last).toHaveLength(1);
      expect(drafts.data).not.toContainEqual(one);
    }
  });

  it('a second time changes nothing', async () => {
    const draft = await makeDraft();
    const first = (await change('publishPost', { id: draft.id }, author)).post;
    const second = (await change('publishPost', { id: draft.id }, author)).post;
    expect(second).toEqual(first);
    const atOnce = await makeDraft();
    const all = await Promise.all(Array.from({ length: 5 }, () => change('publishPost', { id: atOnce.id }, author)));
    expect(all.map(({ status, post }) => [status, post.version])).toEqual(Array(5).fill([200, 2]));
  });

  it('orders the post by the time of publishing, not of writing', async () => {
    const { room, id } = await makeDraft();
    const between = await server.postroom.createPost(other, room, 'between');
    await change('publishPost', { id }, author);
    const { posts } = await server.postroom.ask(
      'query ($room: ID!) { posts(filter: { room: $room }) { data { id publishedAt } } }',
      { room },
    );
    const times = posts.data.map((post: { publishedAt: string }) => post.publishedAt);
    // Posts of the same millisecond are in the order of their ids.
    const expected = times[0] === times[1] ? [id, between].sort() : [between, id];
    expect(posts.data.map((post: { id: string }) => post.id)).toEqual(expected);
  });
});

it('the events of a room contain nothing about a draft until it is published', async () => {
  const { room, id } = await makeDraft();
  const start = await server.postroom.cursorOf(room);
  const second = (await change('createPost', { room, title: 'never', publish: false }, author)).post;
  await change('updatePost', { id, title: 'better' }, author);
  await change('deletePost', { id: second.id }, author);
  const quiet = await server.postroom.cursorOf(room);
  expect(quiet).toEqual(start);
  await change('publishPost', { id }, author);
  await change('publishPost', { id }, author);
  await change('deletePost', { id }, author);
  const events = await readEvents(server.postroom, { room, after: start, count: 2 });
  expect(events).toMatchObject([
    { __typename: 'PostCreated', post: null },
    { __typename: 'PostDeleted', postId: id },
  ]);
  // The head of the room is the last of these events, so no event follows them.
  const end = await server.postroom.cursorOf(room);
  expect(events.at(-1)?.cursor).toBe(end);
});
