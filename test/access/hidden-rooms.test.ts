// Runs on SQLite and on PostgreSQL.
import { readFileSync } from 'node:fs';
import { buildSchema, isObjectType } from 'graphql';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { launchForTest, type Person, type Postroom } from '../support/server/postroom.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/** The facts about the hidden rooms that a stranger knows. */
interface Known {
  room: string;
  post: string;
  draft: string;
  name: string;
  title: string;
  /** A cursor of the room's stream. */
  cursor: string;
  /** The cursors of the edges of a post and of a member. */
  edges: string[];
}

/** One of two servers whose databases differ only in the hidden rooms. */
interface StreamFixture {
  postroom: Postroom;
  stranger: Person;
  owner: Person;
  member: Person;
  hall: string;
}

async function launchStreamFixture(): Promise<StreamFixture> {
  const postroom = await launchForTest();
  const owner = await postroom.signUp('owner');
  const member = await postroom.signUp('member');
  const stranger = await postroom.signUp('stranger');
  const hall = await postroom.createRoom(owner, 'hall');
  await postroom.createPost(owner, hall, 'public words');
  await postroom.createPost(stranger, hall, 'words of a stranger');
  return { postroom, owner, member, stranger, hall };
}

async function hide({ postroom, owner, member }: StreamFixture, name: string): Promise<Known> {
  const { createRoom } = await postroom.ask(
    `mutation { createRoom(input: { name: "${name}", visibility: PRIVATE }) { room { id } } }`,
    {},
    owner.token,
  );
  const room: string = createRoom.room.id;
  await postroom.ask(
    `mutation { addRoomMember(input: { room: "${room}", user: "${member.id}" }) { room { id } } }`,
    {},
    owner.token,
  );
  const title = `secret words of ${name}`;
  const post = await postroom.createPost(owner, room, title);
  await postroom.createPost(member, room, title);
  const { createPost } = await postroom.ask(
    `mutation { createPost(input: { room: "${room}", title: "${title}", publish: false }) { post { id } } }`,
    {},
    member.token,
  );
  const read = await postroom.ask(
    `{ room(id: "${room}") { cursor posts { edges { cursor } } members { edges { cursor } } } }`,
    {},
    owner.token,
  );
  const edges = [read.room.posts.edges[0].cursor, read.room.members.edges[0].cursor];
  return { room, post, draft: createPost.post.id, name, title, cursor: read.room.cursor, edges };
}

const page = 'pagination { page limit total pages }';
const roomFields = `id name viewerRole unread lastRead directUser { name } presence { count } owner { name } members { nodes { name } pageInfo { hasNextPage hasPreviousPage } } posts { nodes { title } pageInfo { hasNextPage hasPreviousPage } }`;

/** Operations that use these facts, each with its root field. */
function questionsOf(
  { stranger, owner, member, hall }: StreamFixture,
  known: Known,
): [field: string, document: string][] {
  const { room, post, draft, name, title, cursor, edges } = known;
  const people = [stranger.id, owner.id, member.id];
  const query = (text: string): [string, string] => [/^\w+/.exec(text)?.[0] ?? '', `{ ${text} }`];
  const mutation = (text: string): [string, string] => [/^\w+/.exec(text)?.[0] ?? '', `mutation { ${text} }`];
  return [
    query(
      'viewer { name rooms { nodes { name unread } pageInfo { hasNextPage } } drafts { data { title } } posts { title } apiKeys { name } }',
    ),
    ...[room, post, draft].map((id) => query(`node(id: "${id}") { id __typename }`)),
    query(`room(id: "${room}") { ${roomFields} }`),
    ...[post, draft].map((id) => query(`post(id: "${id}") { title room { name } author { name } }`)),
    query(`roomByName(name: "${name}") { ${roomFields} }`),
    ...people.map((id) =>
      query(
        `user(id: "${id}") { name version email posts(last: 100) { title room { name } } drafts { data { title } ${page} } rooms { nodes { name } pageInfo { hasNextPage } } }`,
      ),
    ),
    query(`users { data { name version role posts { title } } ${page} }`),
    query(`users(filter: { name: "${name}" }) { ${page} }`),
    query(`posts { data { title room { name } } ${page} }`),
    query(`posts(page: 2, limit: 1) { data { title } ${page} }`),
    query(`posts(filter: { room: "${room}" }) { data { title } ${page} }`),
    query(`posts(filter: { title: "${title}" }) { data { title } ${page} }`),
    query(`posts(filter: { title: "words" }) { data { title } ${page} }`),
    query(
      `posts(filter: { room: "${room}", author: "${owner.id}", publishedAfter: "2020-01-01T00:00:00.000Z" }) { ${page} }`,
    ),
    ...people.map((id) => query(`posts(filter: { author: "${id}" }) { data { title } ${page} }`)),
    query(`rooms { data { name unread members { nodes { name } } posts { nodes { title } } } ${page} }`),
    query(`rooms(page: 2, limit: 1) { data { name } ${page} }`),
    query(`rooms(filter: { name: "${name}" }) { data { name } ${page} }`),
    query(`rooms(filter: { visibility: PRIVATE }) { data { name } ${page} }`),
    ...people.map((id) => query(`rooms(filter: { member: "${id}" }) { data { name } ${page} }`)),
    query(`connections(filter: { viewer: "${owner.id}" }) { total nodes { viewer { name } } }`),
    query('serverStatus { mostFollowedRooms { room { name } followers } }'),
    query('load { users { user { name } } }'),
    query('refusals { reason }'),
    ...edges.flatMap((edge) => [
      query(
        `room(id: "${hall}") { posts(first: 5, after: "${edge}") { nodes { title } pageInfo { hasPreviousPage hasNextPage } } }`,
      ),
      query(
        `room(id: "${hall}") { posts(last: 5, before: "${edge}") { nodes { title } pageInfo { hasPreviousPage hasNextPage } } }`,
      ),
      query(`room(id: "${hall}") { members(first: 5, after: "${edge}") { nodes { name } } }`),
    ]),
    mutation(`updateRoom(input: { id: "${room}", name: "mine", expectedVersion: 7 }) { room { id } }`),
    mutation(`updateRoom(input: { id: "${room}", name: "" }) { room { id } }`),
    mutation(`replaceRoom(input: { id: "${room}", name: "mine", visibility: PUBLIC }) { room { id } }`),
    mutation(`deleteRoom(input: { id: "${room}", expectedVersion: 7 }) { room { id } }`),
    mutation(`joinRoom(input: { room: "${room}" }) { room { id } }`),
    mutation(`leaveRoom(input: { room: "${room}" }) { room { id } }`),
    mutation(`openDirectRoom(input: { user: "${room}" }) { room { name } }`),
    ...people.flatMap((id) => [
      mutation(`addRoomMember(input: { room: "${room}", user: "${id}" }) { room { id } }`),
      mutation(`removeRoomMember(input: { room: "${room}", user: "${id}" }) { room { id } }`),
    ]),
    mutation(`markRead(input: { room: "${room}" }) { room { id } }`),
    mutation(`markRead(input: { room: "${room}", post: "${post}" }) { room { id } }`),
    // A member of another room: whether the post exists must not show.
    mutation(`joinRoom(input: { room: "${hall}" }) { room { id } }`),
    ...[post, draft].map((id) => mutation(`markRead(input: { room: "${hall}", post: "${id}" }) { room { id } }`)),
    mutation(`createPost(input: { room: "${room}", title: "" }) { post { id } }`),
    mutation(`createPost(input: { room: "${room}", title: "t" }) { post { id } }`),
    ...[post, draft].flatMap((id) => [
      mutation(`updatePost(input: { id: "${id}", title: "", expectedVersion: 7 }) { post { id } }`),
      mutation(`replacePost(input: { id: "${id}", title: "t" }) { post { id } }`),
      mutation(`publishPost(input: { id: "${id}" }) { post { id } }`),
      mutation(`deletePost(input: { id: "${id}", expectedVersion: 7 }) { post { id } }`),
    ]),
    mutation(`endConnection(input: { id: "${room}" }) { id }`),
    ...people.map((id) => mutation(`muteUser(input: { room: "${room}", user: "${id}" }) { room { name } until }`)),
    ...[true, false].map((typing) =>
      mutation(`setTyping(input: { room: "${room}", typing: ${typing} }) { room { name } }`),
    ),
    ...['', ', visible: false'].map((visible): [string, string] => [
      'roomPresence',
      `subscription { roomPresence(room: "${room}"${visible}) { count } }`,
    ]),
    ['serverStatusChanged', 'subscription { serverStatusChanged { mostFollowedRooms { room { name } } } }'],
    mutation(`createInvitation(input: { room: "${room}" }) { code }`),
    mutation(`revokeInvitation(input: { room: "${room}", id: "${room}" }) { invitation { id } }`),
    mutation(`revokeApiKey(input: { id: "${room}" }) { apiKey { id } }`),
    // A stranger can create a room with the name of a hidden room, because an error would reveal the hidden room.
    mutation(`createRoom(input: { name: "${name}" }) { room { name } }`),
    mutation(`createRoom(input: { name: "${name} too", visibility: PRIVATE }) { room { name } }`),
    ...['', `(after: ["${cursor}"])`].map((after): [string, string] => [
      'inbox',
      `subscription { inbox${after} { __typename room { name } } }`,
    ]),
    ...['roomEvents', 'postAdded'].flatMap((field): [string, string][] => [
      [field, `subscription { ${field}(room: "${room}") { __typename } }`],
      [field, `subscription { ${field}(room: "${room}", after: "${cursor}") { __typename } }`],
      [field, `subscription { ${field}(room: "${hall}", after: "${cursor}") { __typename } }`],
    ]),
  ];
}

/** Root fields that read or change accounts, not rooms. */
const aboutAccounts = new Set([
  ...[
    'signUp',
    'signIn',
    'signInWithLink',
    'renewSession',
    'changePassword',
    'createApiKey',
    'updateUser',
    'replaceUser',
    'deleteUser',
  ],
]);

/** Replaces the ids that both databases have with names, because the ids differ between the databases. */
function neutral(world: StreamFixture, value: unknown): unknown {
  const names = { owner: world.owner.id, member: world.member.id, stranger: world.stranger.id, hall: world.hall };
  let text = JSON.stringify(value ?? null);
  for (const [name, id] of Object.entries(names)) text = text.replaceAll(id, name);
  // Request ids and the numbers in e-mail addresses differ in every run, and reveal nothing about rooms.
  return JSON.parse(text.replaceAll(/"requestId":"[^"]*"/g, '"requestId":""').replaceAll(/person\d+@/g, 'person@'));
}

async function ask(world: StreamFixture, document: string, person: Person | undefined): Promise<unknown> {
  const authorization = person && `Bearer ${person.token}`;
  if (!document.startsWith('subscription')) {
    const { status, data, errors } = await sendAs(world.postroom, authorization, document);
    return neutral(world, { status, data, errors });
  }
  const socket = await ProtocolSocket.open(world.postroom.webSocketUrl, { init: { authorization } });
  socket.subscribe('s', document);
  const { type, payload } = await socket.take(({ id, payload }) => id === 's' || payload?.live !== undefined);
  socket.webSocket.terminate();
  return neutral(world, { type, payload: type === 'error' ? payload : null });
}

it('every root field is covered by a query', () => {
  const world = { stranger: { id: '' }, owner: { id: '' }, member: { id: '' }, hall: '' } as StreamFixture;
  const known = { room: '', post: '', draft: '', name: '', title: '', cursor: '', edges: [''] };
  const asked = new Set(questionsOf(world, known).map(([field]) => field));
  const fields = ['Query', 'Mutation', 'Subscription'].flatMap((name) => {
    const type = schema.getType(name);
    return isObjectType(type) ? Object.keys(type.getFields()) : [];
  });
  expect(fields.filter((field) => !asked.has(field) && !aboutAccounts.has(field))).toEqual([]);
});

it.each([
  'stranger',
  undefined,
] as const)('a client that knows every id and name in a hidden room gets the same answers as if the room did not exist: %s', async (who) => {
  const [full, empty] = [await launchStreamFixture(), await launchStreamFixture()];
  const known = [await hide(full, 'den'), await hide(full, 'cave')];
  let answered = 0;
  for (const one of known) {
    const questions = questionsOf(full, one);
    const others = questionsOf(empty, one);
    for (const [index, [, document]] of questions.entries()) {
      const there = await ask(full, document, who && full[who]);
      const nowhere = await ask(empty, others[index]?.[1] ?? '', who && empty[who]);
      expect({ document, answer: there }).toEqual({ document, answer: nowhere });
      answered += 1;
    }
  }
  expect(answered).toBeGreaterThan(100);
  // No request changed a hidden room.
  const rooms = await full.postroom.ask(
    '{ rooms(filter: { visibility: PRIVATE }) { data { name version } } }',
    {},
    full.member.token,
  );
  expect(rooms.rooms.data).toEqual([
    { name: 'den', version: 1 },
    { name: 'cave', version: 1 },
  ]);
}, 60_000);

it('a subscriber of public rooms receives nothing about hidden rooms', async () => {
  const world = await launchStreamFixture();
  const { postroom, owner, stranger, hall } = world;
  const { room, post } = await hide(world, 'den');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, {
    init: { authorization: `Bearer ${stranger.token}` },
  });
  await socket.follow('s', `subscription { roomEvents(room: "${hall}") { __typename } }`);
  await postroom.createPost(owner, room, 'hidden');
  await postroom.ask(`mutation { deletePost(input: { id: "${post}" }) { post { id } } }`, {}, owner.token);
  await postroom.createPost(owner, hall, 'public');
  await socket.take(({ type }) => type === 'next');
  await socket.settle();
  expect(socket.nexts('s').map(({ data }) => data)).toEqual([{ roomEvents: { __typename: 'PostCreated' } }]);
});
