// Runs on SQLite and on PostgreSQL.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, scratchFolder } from '../support/server/postroom.ts';

/* The example of reactions, changed: with an event about the user instead of the post, and for drafts. */

type Change = [file: string, from: string, to: string];

function writeExtension(...changes: Change[]): string {
  const folder = scratchFolder();
  cpSync('./examples/extensions/reactions', folder, { recursive: true });
  for (const [file, from, to] of changes) {
    const text = readFileSync(join(folder, file), 'utf8');
    expect(text).toContain(from);
    writeFileSync(join(folder, file), text.replace(from, to));
  }
  return folder;
}

it('an event does not show a draft', async () => {
  const postroom = await launchForTest({
    EXTENSIONS: writeExtension(['index.ts', 'post.publishedAt === null', 'id === null']),
  });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'drafts');
  const after = await postroom.cursorOf(room);
  const create = `mutation ($room: ID!) {
    createPost(input: { room: $room, title: "Not yet", publish: false }) { post { id } }
  }`;
  const { createPost } = await postroom.ask(create, { room }, ada.token);
  const add = 'mutation ($post: ID!) { addReaction(input: { post: $post, emoji: "👍" }) { post { id } } }';
  await postroom.ask(add, { post: createPost.post.id }, ada.token);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const reacted = `subscription ($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after, types: [PostReacted]) { ... on PostReacted { post { title } } }
  }`;
  const { results } = socket.subscribe('draft', reacted, { room, after });
  expect((await results.next()).data.roomEvents).toEqual({ post: null });
});

it('the subject of an event may be a user, and is null after the account was deleted', async () => {
  const ofUsers = writeExtension(
    ['schema.graphql', 'post: Post }', 'user: User }'],
    ['index.ts', "subject: 'Post'", "subject: 'User'"],
    ['index.ts', 'subjectId: id,', 'subjectId: user.id,'],
  );
  const postroom = await launchForTest({ EXTENSIONS: ofUsers });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const room = await postroom.createRoom(ada, 'subjects');
  const after = await postroom.cursorOf(room);
  const post = await postroom.createPost(ada, room, 'Hello');
  const add = 'mutation ($post: ID!) { addReaction(input: { post: $post, emoji: "👍" }) { post { id } } }';
  await postroom.ask(add, { post }, bob.token);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const reacted = `subscription ($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after, types: [PostReacted]) { ... on PostReacted { user { name } } }
  }`;
  const before = socket.subscribe('before', reacted, { room, after });
  expect((await before.results.next()).data.roomEvents).toEqual({ user: { name: 'Bob' } });
  const remove = 'mutation ($id: ID!) { deleteUser(input: { id: $id, deletePosts: false }) { user { id } } }';
  await postroom.ask(remove, { id: bob.id }, bob.token);
  const later = socket.subscribe('later', reacted, { room, after });
  expect((await later.results.next()).data.roomEvents).toEqual({ user: null });
});
