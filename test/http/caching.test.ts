import { beforeAll, describe, expect, it } from 'vitest';
import { get, graphqlResponse, type HttpAnswer, post } from '../support/clients/http.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();

let ada: Person;
let room: string;
let published: string;
let draft: string;

beforeAll(async () => {
  const { postroom } = server;
  ada = await postroom.signUp('Ada');
  room = await postroom.createRoom(ada, scratchName());
  published = await postroom.createPost(ada, room, 'hello');
  const { createPost } = await postroom.ask(
    'mutation ($room: ID!) { createPost(input: { room: $room, title: "x", publish: false }) { post { id } } }',
    { room },
    ada.token,
  );
  draft = createPost.post.id;
});

/** Sends the query by GET; `$ada`, `$room`, `$published` and `$draft` are replaced by ids. */
function read(query: string, headers: Record<string, string> = {}, method?: string): Promise<HttpAnswer> {
  const ids: Record<string, string> = { ada: ada.id, room, published, draft };
  const filled = query.replaceAll(/\$(\w+)/g, (_, name: string) => JSON.stringify(ids[name]));
  return get(server.postroom, { query: filled }, headers, method);
}

describe('a GET of public data', () => {
  it.each([
    [10, '{ user(id: $ada) { id name } }'],
    [10, '{ user(id: $ada) { ...Name } } fragment Name on User { name }'],
    [10, '{ a: user(id: $ada) { id } b: user(id: "none") { id } }'],
    [5, '{ users { data { id name } } }'],
    [5, '{ user(id: $ada) { posts { title } } }'],
    [
      5,
      '{ user(id: $ada) { ...Posts } } fragment Posts on User { posts { ...Title } } fragment Title on Post { title }',
    ],
    [5, '{ user(id: $ada) { ... on User { posts { title } } } }'],
    [5, '{ post(id: $published) { title author { name } } }'],
    [5, '{ node(id: $ada) { id ... on User { name } } }'],
    // The most restrictive field applies, at any depth, even if @include excludes it.
    [0, '{ user(id: $ada) { id } room(id: $room) { cursor } }'],
    [0, '{ post(id: $published) { room { ... on Room { cursor @include(if: false) } } } }'],
    [0, '{ __typename }'],
  ])('may be cached for %i s: %s', async (maxAge, query) => {
    const { status, headers } = await read(query);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'cache-control': `public, max-age=${maxAge}`,
      etag: expect.stringMatching(/^"[\w-]{27}"$/),
      vary: 'accept, authorization, origin',
    });
  });

  it('is cached by the operation that runs, not by others in the document', async () => {
    const query = 'query Public { users { data { id } } } query Private { viewer { id } }';
    const controls = [];
    for (const operationName of ['Public', 'Private']) {
      controls.push((await get(server.postroom, { query, operationName })).headers['cache-control']);
    }
    expect(controls).toEqual(['public, max-age=5', 'private, no-store']);
  });
});

describe('an answer that is personal, or that failed,', () => {
  it.each([
    ['selects the viewer', '{ viewer { id } }'],
    ['selects a field that only its owner may read', '{ user(id: $ada) { email } }'],
    [
      'selects such a field in a fragment',
      '{ user(id: $ada) { ...Own } } fragment Own on User { drafts { data { id } } }',
    ],
    // Only the execution shows that the post is a draft.
    ['reads a draft', '{ post(id: $draft) { id } }'],
    ['reads a draft as a node', '{ node(id: $draft) { id } }'],
  ])('is not cacheable: it %s', async (_, query) => {
    const { status, headers } = await read(query);
    expect(status).toBe(200);
    expect(headers['cache-control']).toBe('private, no-store');
    expect(headers).not.toHaveProperty('etag');
  });

  it.each([
    ['some of it', 294, '{ user(id: $ada) { posts(last: 0) { id } } users { data { id } } }'],
    ['all of it', 422, '{ users(limit: 0) { data { id } } }'],
    ['the document', 400, '{'],
  ])('is not cacheable: %s failed', async (_, status, query) => {
    expect(await read(query)).toMatchObject({ status, headers: { 'cache-control': 'private, no-store' } });
  });

  it('is not cacheable if credentials were sent, or the method was POST', async () => {
    const query = '{ users { data { id } } }';
    const answers = [
      await read(query, { authorization: `Bearer ${ada.token}` }),
      await post(server.postroom, query),
      await post(server.postroom, query, { headers: { 'if-none-match': '*' } }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('private, no-store');
      expect(headers).not.toHaveProperty('etag');
    }
  });
});

describe('an entity tag', () => {
  const query = '{ user(id: $ada) { name version } }';

  it('changes exactly when the answer does', async () => {
    const tag = async () => (await read(query)).headers.etag;
    const before = await tag();
    expect(await tag()).toBe(before);
    await server.postroom.ask(
      'mutation ($id: ID!) { updateUser(input: { id: $id, name: "Ada L." }) { user { id } } }',
      { id: ada.id },
      ada.token,
    );
    expect(await tag()).not.toBe(before);
  });

  it('differs between media types', async () => {
    const tags = [];
    for (const accept of [graphqlResponse, 'application/json']) tags.push((await read(query, { accept })).headers.etag);
    expect(new Set(tags).size).toBe(2);
  });

  it('of a long answer changes exactly when the answer does, and differs between media types', async () => {
    for (let count = 0; count < 6; count += 1) await server.postroom.createPost(ada, room, 'long', 'x'.repeat(20_000));
    const long = '{ room(id: $room) { posts(last: 6) { nodes { body } } } }';
    const { body, headers } = await read(long);
    expect(body.length).toBeGreaterThan(120_000);
    expect(await read(long, { 'if-none-match': headers.etag ?? '' })).toMatchObject({ status: 304, body: '' });
    expect((await read(long, { accept: 'application/json' })).headers.etag).not.toBe(headers.etag);
    await server.postroom.createPost(ada, room, 'long', 'y'.repeat(20_000));
    expect((await read(long)).headers.etag).not.toBe(headers.etag);
  });

  it('that the client has cached is answered by 304, without a body', async () => {
    const { headers } = await read(query);
    const tag = headers.etag ?? '';
    for (const has of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag} , "third"`, '*']) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await read(query, { 'if-none-match': has }, method);
        expect(answer).toMatchObject({ status: 304, body: '' });
        expect(answer.headers).toMatchObject({ etag: tag, 'cache-control': 'public, max-age=10', vary: headers.vary });
        expect(answer.headers).not.toHaveProperty('content-type');
      }
    }
  });

  it('that does not match is answered in full', async () => {
    for (const has of ['"other"', '', 'W/"other"', '"']) {
      expect(await read(query, { 'if-none-match': has })).toMatchObject({ status: 200, data: expect.anything() });
    }
  });
});
