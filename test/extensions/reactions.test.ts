// Runs on SQLite and on PostgreSQL.
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* A server with both extensions of examples/extensions. */

const server = shareServer({ EXTENSIONS: './examples/extensions/tasks,./examples/extensions/reactions' });
const reactions = 'reactions { emoji count viewerHasReacted }';
const change = (name: string) =>
  `mutation ($post: ID!, $emoji: String!) { ${name}(input: { post: $post, emoji: $emoji }) { post { ${reactions} } } }`;
const [add, remove] = [change('addReaction'), change('removeReaction')];
const read = `query ($post: ID!) { post(id: $post) { ${reactions} room { unread } } }`;

it('each user reacts once with an emoji, and each change is an event', async () => {
  const { postroom } = server;
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const room = await postroom.createRoom(ada, 'reactions');
  const start = await postroom.cursorOf(room);
  const post = await postroom.createPost(ada, room, 'Hello');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
  const event = (
    fields: string,
  ) => `subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) {
    __typename ... on PostCreated { post { ${fields} } } ... on PostReacted { actor { id } post { ${fields} } } } }`;
  const live = socket.subscribe('live', event(reactions), { room });
  await live.start;
  await Promise.all([1, 2, 3].map(() => postroom.ask(add, { post, emoji: '👍' }, bob.token)));
  await postroom.ask(add, { post, emoji: '👍' }, ada.token);
  const { addReaction } = await postroom.ask(add, { post, emoji: '👩‍🚀' }, bob.token);
  expect(addReaction.post.reactions).toEqual([
    { emoji: '👍', count: 2, viewerHasReacted: true },
    { emoji: '👩‍🚀', count: 1, viewerHasReacted: true },
  ]);
  await postroom.ask(remove, { post, emoji: '👍' }, ada.token);
  await postroom.ask(remove, { post, emoji: '👍' }, ada.token);
  const after = ['👍', '👩‍🚀'].map((emoji) => ({ emoji, count: 1, viewerHasReacted: false }));
  expect((await postroom.ask(read, { post }, ada.token)).post).toEqual({ reactions: after, room: { unread: 0 } });
  const received = (await live.results.take(4)).map(({ data }) => data.roomEvents);
  expect(received.map(({ actor }) => actor.id)).toEqual([bob.id, ada.id, bob.id, ada.id]);
  expect(received[3]).toMatchObject({ __typename: 'PostReacted', post: { reactions: after } });
  // A replay has the counts as they are now, also of the post itself.
  const replay = socket.subscribe('replay', event('reactions { emoji count }'), { room, after: start });
  for (const { data } of await replay.results.take(5))
    expect(data.roomEvents.post.reactions).toEqual(after.map(({ emoji, count }) => ({ emoji, count })));
});

it('only published posts have reactions, with one emoji each and 20 in all, which are deleted with the post', async () => {
  const { postroom } = server;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'rules of reactions');
  const createDraft = `mutation ($room: ID!) { createPost(input: { room: $room, title: "Draft", publish: false }) { post { id } }
    addTask(input: { room: $room, title: "Of the other extension" }) { task { id } } }`;
  const draft = (await postroom.ask(createDraft, { room }, ada.token)).createPost.post.id;
  const post = await postroom.createPost(ada, room, 'Hello');
  const codeOf = async (id: string, emoji: string) => (await postroom.send(add, { post: id, emoji }, ada.token)).code;
  expect(await codeOf(draft, '👍')).toBe('CONFLICT');
  for (const emoji of ['', 'x', '👍👍']) expect(await codeOf(post, emoji)).toBe('VALIDATION_ERROR');
  for (let number = 0; number < 20; number += 1)
    expect(await codeOf(post, String.fromCodePoint(0x1f600 + number))).toBeUndefined();
  expect(await codeOf(post, '👍')).toBe('CONFLICT');
  expect(await codeOf(post, '😀')).toBeUndefined();
  const countRows = () =>
    withDatabase(server.databaseFile, (database) =>
      Number(database.prepare('select count(*) as "n" from "reactions_reactions" where "postId" = ?').get(post)?.['n']),
    );
  expect(countRows()).toBe(20);
  await postroom.ask('mutation ($post: ID!) { deletePost(input: { id: $post }) { post { id } } }', { post }, ada.token);
  expect(countRows()).toBe(0);
});
