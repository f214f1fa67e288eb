import { beforeAll, describe, expect, it } from 'vitest';
import { type LiveOperation, ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import { forgeCursor } from '../support/rooms/cursors.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const server = shareServer();
let postroom: Postroom;
let ada: Person;
let roomCount = 0;

const roomEvents = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) {
    __typename actor { name }
    ... on PostCreated { post { id title body version author { name } } }
    ... on PostUpdated { post { id title body version author { name } } }
    ... on PostDeleted { postId }
    ... on MemberJoined { user { name } }
    ... on MemberLeft { user { name } }
  }
}`;
const postAdded = `subscription ($room: ID!, $after: String) {
  postAdded(room: $room, after: $after) { id title body author { name } }
}`;
const everything = `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) {
    __typename
    room { posts(last: 50) { nodes { title } } members(first: 10) { nodes { name posts(last: 50) { title body } } } }
  }
}`;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
});

/** Creates a room with a subscriber: the server then keeps its latest events in memory, with the posts as written. */
async function createRoom(): Promise<{ room: string; start: string }> {
  roomCount += 1;
  const room = await postroom.createRoom(ada, `room ${roomCount}`);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  return { room, start: await socket.subscribe('watch', roomEvents, { room }).start };
}

function deletePost(id: string): Promise<unknown> {
  return postroom.ask('mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }', { id }, ada.token);
}

function updatePost(id: string, title: string): Promise<unknown> {
  const mutation =
    'mutation ($id: ID!, $title: String) { updatePost(input: { id: $id, title: $title }) { post { id } } }';
  return postroom.ask(mutation, { id, title }, ada.token);
}

function join(person: Person, room: string): Promise<unknown> {
  return postroom.ask(`mutation { joinRoom(input: { room: "${room}" }) { room { id } } }`, {}, person.token);
}

function deleteUser({ id, token }: Person, deletePosts: boolean): Promise<unknown> {
  const mutation = 'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }';
  return postroom.ask(mutation, { input: { id, deletePosts } }, token);
}

/** Opens a socket for many subscriptions. Equal subscriptions share a group, which caches replayed events for 1 s. */
async function openReplays(): Promise<(query: string, room: string, after: string) => LiveOperation> {
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  let count = 0;
  return (query, room, after) => {
    count += 1;
    return socket.subscribe(String(count), query, { room, after });
  };
}

function eventsOf(results: Result[]): unknown[] {
  return results.map(({ data }) => data.roomEvents);
}

describe('a replay', () => {
  it('shows a post as it is now', async () => {
    const { room, start } = await createRoom();
    const id = await postroom.createPost(ada, room, 'first words', 'body');
    await updatePost(id, 'second words');
    const replay = await openReplays();
    const { results } = replay(roomEvents, room, start);
    const now = { id, title: 'second words', body: 'body', version: 2, author: { name: 'Ada' } };
    expect(eventsOf(await results.take(2))).toEqual([
      { __typename: 'PostCreated', actor: { name: 'Ada' }, post: now },
      { __typename: 'PostUpdated', actor: { name: 'Ada' }, post: now },
    ]);
    await updatePost(id, 'third words');
    const again = await replay(roomEvents, room, start).results.take(3);
    expect(again.map(({ data }) => data.roomEvents.post.title)).toEqual(Array(3).fill('third words'));
  });

  it('leaves out a post that was deleted since, even a moment ago, and postAdded omits its event', async () => {
    const { room, start } = await createRoom();
    const secret = await postroom.createPost(ada, room, 'secret title', 'secret body');
    await updatePost(secret, 'secret change');
    const kept = await postroom.createPost(ada, room, 'kept');
    const replay = await openReplays();
    const before = await replay(roomEvents, room, start).results.take(3);
    const addedBefore = await replay(postAdded, room, start).results.take(2);
    expect(JSON.stringify([before, addedBefore])).toContain('secret');

    await deletePost(secret);
    const results = await replay(roomEvents, room, start).results.take(4);
    const [added] = await replay(postAdded, room, start).results.take(1);
    expect(eventsOf(results)).toEqual([
      { __typename: 'PostCreated', actor: { name: 'Ada' }, post: null },
      { __typename: 'PostUpdated', actor: { name: 'Ada' }, post: null },
      { __typename: 'PostCreated', actor: { name: 'Ada' }, post: expect.objectContaining({ id: kept, title: 'kept' }) },
      { __typename: 'PostDeleted', actor: { name: 'Ada' }, postId: secret },
    ]);
    expect(added?.data.postAdded.id).toBe(kept);
    expect(JSON.stringify([results, added])).not.toContain('secret');
  });

  it('contains nothing of a post that was deleted a moment ago, at any depth of the selection', async () => {
    const { room, start } = await createRoom();
    const { room: otherRoom } = await createRoom();
    await join(ada, room);
    await postroom.createPost(ada, room, 'kept');
    const secrets = [
      await postroom.createPost(ada, room, 'secret here'),
      await postroom.createPost(ada, otherRoom, 'secret elsewhere'),
    ];
    const replay = await openReplays();
    for (const secret of secrets) {
      expect(JSON.stringify(await replay(everything, room, start).results.take(2))).toContain('secret');
      await deletePost(secret);
    }
    expect(JSON.stringify(await replay(everything, room, start).results.take(2))).not.toContain('secret');
  });

  it('contains neither the name nor the text of a user whose account was deleted a moment ago', async () => {
    const { room, start } = await createRoom();
    const eve = await postroom.signUp('Eve Secret');
    await join(eve, room);
    await postroom.createPost(eve, room, 'secret title');
    const replay = await openReplays();
    const queries = [roomEvents, postAdded, everything];
    for (const [index, query] of queries.entries()) {
      expect(JSON.stringify(await replay(query, room, start).results.take(index === 1 ? 1 : 2))).toMatch(/secret/i);
    }
    await deleteUser(eve, true);
    await postroom.createPost(ada, room, 'last');
    const events = await replay(roomEvents, room, start).results.take(5);
    expect(eventsOf(events)).toEqual([
      { __typename: 'MemberJoined', actor: null, user: null },
      { __typename: 'PostCreated', actor: null, post: null },
      { __typename: 'PostDeleted', actor: null, postId: expect.any(String) },
      { __typename: 'MemberLeft', actor: null, user: null },
      { __typename: 'PostCreated', actor: { name: 'Ada' }, post: expect.objectContaining({ title: 'last' }) },
    ]);
    const [added] = await replay(postAdded, room, start).results.take(1);
    expect(added?.data.postAdded.title).toBe('last');
    const deep = await replay(everything, room, start).results.take(5);
    expect(JSON.stringify([events, added, deep])).not.toMatch(/secret/i);
  });

  it('reads each part of the log once', async () => {
    const room = await postroom.createRoom(ada, 'long');
    const rename = (name: string) => `${name}: updateRoom(input: { id: "${room}", name: "${name}" }) { room { id } }`;
    for (let count = 0; count < 600; count += 10) {
      const names = Array.from({ length: 10 }, (_, index) => `n${count + index}`);
      await postroom.ask(`mutation { ${names.map(rename).join(' ')} }`, {}, ada.token);
    }
    await postroom.createPost(ada, room, 'the only one');
    const { log_reads_total: before = 0 } = await readMetrics(postroom);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const { results } = socket.subscribe('replay', postAdded, { room, after: forgeCursor('00000000', 0, room) });
    expect((await results.take(1)).map(({ data }) => data.postAdded.title)).toEqual(['the only one']);
    // Of 602 events, the last 256 are read when the feed opens, and the others in two parts.
    expect(await readMetrics(postroom)).toMatchObject({ log_reads_total: before + 3 });
  });

  it('gives "deleted user" as the author of a post that stays', async () => {
    const { room, start } = await createRoom();
    const eve = await postroom.signUp('Eve Secret');
    await postroom.createPost(eve, room, 'stays');
    const replay = await openReplays();
    expect(JSON.stringify(await replay(postAdded, room, start).results.take(1))).toContain('Eve Secret');
    await deleteUser(eve, false);
    const [added] = await replay(postAdded, room, start).results.take(1);
    expect(added?.data.postAdded).toMatchObject({ title: 'stays', author: { name: 'deleted user' } });
  });
});

it('a live event shows the post as it was written, however soon it is changed', async () => {
  const { room } = await createRoom();
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
  const { start, results } = socket.subscribe('live', roomEvents, { room });
  await start;
  const id = await postroom.createPost(ada, room, 'first');
  const change = (title: string) => `updatePost(input: { id: "${id}", title: "${title}" }) { post { id } }`;
  await postroom.ask(`mutation { a: ${change('second')} b: ${change('third')} }`, {}, ada.token);
  await deletePost(id);
  const events = await results.take(4);
  expect(events.map(({ data }) => data.roomEvents.post?.title)).toEqual(['first', 'second', 'third', undefined]);
});
