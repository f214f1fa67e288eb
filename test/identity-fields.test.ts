import { readFileSync } from 'node:fs';
import {
  buildSchema,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { expect, it } from 'vitest';
import {
  authorizationOf,
  createObjects,
  hasContent,
  type Ids,
  launchTestAccounts,
  roles,
  type TestAccounts,
} from './support/cast.ts';
import { sendAs } from './support/credentials.ts';
import type { Person } from './support/postroom.ts';
import { ProtocolSocket } from './support/protocol-socket.ts';

/*
 * For every field of every type, the roles that receive a value in it. The root fields are in the tables of
 * identity-access.test.ts.
 */

const schema = buildSchema(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'));

/**
 * The result for each role, in the order of `roles`: ✓ a value · - no value · ? a number, which may be 0 · f forbidden
 * (403) · s not signed in (401).
 */
type Sees = string;
const everyone = '✓✓✓✓✓✓f✓✓';
const insiders = '--✓✓✓✓f✓✓';
const author = '--✓---f--';
const owner = '---✓--f--';
const nobody = '------f--';
const admins = 'sfff✓fff✓';
const adminsMayBeZero = 'sfff?fff?';

interface Subject {
  type: string;
  /** The root field that returns the subject, with these fields selected. */
  at: (ids: Ids, fields: string) => string;
  sees: Record<string, Sees>;
}

const subjects: Record<string, Subject> = {
  'the account of the owner': {
    type: 'User',
    at: ({ owner }, fields) => `user(id: "${owner}") { ${fields} }`,
    sees: {
      ...{ id: everyone, name: everyone, role: everyone, createdAt: everyone, updatedAt: everyone, version: everyone },
      email: '---✓✓-f-✓',
      posts: nobody,
      drafts: nobody,
      rooms: owner,
      apiKeys: owner,
    },
  },
  'the account of the member, who posts in the private room alone': {
    type: 'User',
    at: ({ member }, fields) => `user(id: "${member}") { ${fields} }`,
    sees: {
      ...{ id: everyone, name: everyone, role: everyone, createdAt: everyone, updatedAt: everyone, version: everyone },
      email: '--✓-✓-f-✓',
      posts: insiders,
      drafts: author,
      rooms: author,
      apiKeys: nobody,
    },
  },
  'a key of the owner': {
    type: 'ApiKey',
    at: ({ owner }, fields) => `user(id: "${owner}") { apiKeys { ${fields} } }`,
    sees: {
      ...{ id: owner, name: owner, prefix: owner, scopes: owner, user: owner, createdAt: owner },
      expiresAt: owner,
      lastUsedAt: nobody,
    },
  },
  'a post in the private room': {
    type: 'Post',
    at: ({ post }, fields) => `post(id: "${post}") { ${fields} }`,
    sees: {
      ...{ id: insiders, title: insiders, body: insiders, author: insiders, room: insiders, version: insiders },
      ...{ publishedAt: insiders, createdAt: insiders, updatedAt: insiders },
    },
  },
  'a draft in the private room': {
    type: 'Post',
    at: ({ draft }, fields) => `post(id: "${draft}") { ${fields} }`,
    sees: {
      ...{ id: author, title: author, body: author, author, room: author, version: author },
      ...{ publishedAt: nobody, createdAt: author, updatedAt: author },
    },
  },
  'the private room': {
    type: 'Room',
    at: ({ room }, fields) => `room(id: "${room}") { ${fields} }`,
    sees: {
      ...{ id: insiders, name: insiders, visibility: insiders, version: insiders, owner: insiders, cursor: insiders },
      ...{ createdAt: insiders, updatedAt: insiders, members: insiders, posts: insiders },
      ...{ viewerRole: '--✓✓-✓f✓-', lastRead: '--✓✓-✓f✓-', unread: '--??-?f?-' },
    },
  },
  'the public room': {
    type: 'Room',
    at: ({ publicRoom }, fields) => `room(id: "${publicRoom}") { ${fields} }`,
    sees: {
      ...{ id: everyone, name: everyone, visibility: everyone, version: everyone, owner: everyone, cursor: everyone },
      ...{ createdAt: everyone, updatedAt: everyone, members: everyone, posts: nobody },
      ...{ viewerRole: owner, lastRead: owner, unread: '---?--f--' },
    },
  },
  'a membership of the private room': {
    type: 'RoomMemberEdge',
    at: ({ room }, fields) => `room(id: "${room}") { members { edges { ${fields} } } }`,
    sees: { cursor: insiders, node: insiders, joinedAt: insiders },
  },
  'the connection of the member': {
    type: 'Client',
    at: ({ member }, fields) => `connections(filter: { viewer: "${member}" }) { nodes { ${fields} } }`,
    sees: {
      ...{ id: admins, viewer: admins, address: admins, transport: admins, since: admins, node: admins },
      subscriptions: admins,
      bytesWaiting: adminsMayBeZero,
      lagMs: adminsMayBeZero,
    },
  },
  'the state of the server': {
    type: 'ServerStatus',
    at: (_, fields) => `serverStatus { ${fields} }`,
    sees: { time: admins, nodes: admins, database: admins, bus: admins, mostFollowedRooms: admins, errors: admins },
  },
  'the state of a node': {
    type: 'NodeStatus',
    at: (_, fields) => `serverStatus { nodes { ${fields} } }`,
    sees: {
      ...{ name: admins, version: admins, nodeVersion: admins, startedAt: admins, connections: admins },
      ...{ subscriptions: admins, roomsFollowed: admins, queues: admins, memoryBytes: admins },
      ...{ operationsPerSecond: adminsMayBeZero, failedOperationsPerSecond: adminsMayBeZero },
      ...{ deliveriesPerSecond: adminsMayBeZero, lagMs: adminsMayBeZero, slowConsumers: adminsMayBeZero },
      eventLoopLagMs: adminsMayBeZero,
    },
  },
  'a queue': {
    type: 'QueueDepth',
    at: (_, fields) => `serverStatus { nodes { queues { ${fields} } } }`,
    sees: { name: admins, depth: adminsMayBeZero },
  },
  'the state of the database': {
    type: 'DatabaseStatus',
    at: (_, fields) => `serverStatus { database { ${fields} } }`,
    sees: { kind: admins, version: admins, isUp: admins },
  },
  'the state of the bus': {
    type: 'BusStatus',
    at: (_, fields) => `serverStatus { bus { ${fields} } }`,
    sees: { kind: admins, isUp: admins },
  },
  'a room with followers': {
    type: 'RoomFollowers',
    at: (_, fields) => `serverStatus { mostFollowedRooms { ${fields} } }`,
    sees: { room: admins, followers: admins },
  },
  'an error that clients received': {
    type: 'ErrorCount',
    at: (_, fields) => `serverStatus { errors { ${fields} } }`,
    sees: { code: admins, count: admins, lastAt: admins },
  },
};

const everyEvent = { at: insiders, cursor: insiders, room: insiders, actor: insiders };

/** The fields of the events of the private room. */
const events: Record<string, Record<string, Sees>> = {
  PostCreated: { ...everyEvent, post: insiders },
  PostUpdated: { ...everyEvent, post: insiders },
  // The post was deleted, so that no role can read its content.
  PostDeleted: { ...everyEvent, postId: insiders },
  MemberJoined: { ...everyEvent, user: insiders },
  MemberLeft: { ...everyEvent, user: insiders },
  RoomUpdated: everyEvent,
};

const eachMember = '--✓✓-✓f✓-';
const everyMember = { at: eachMember, cursor: eachMember, room: eachMember, actor: eachMember };

/** The fields of the events of the private room that only inboxes receive. The member has read the room. */
const inboxEvents: typeof events = {
  RoomRead: { at: author, cursor: author, room: author, actor: author },
  RoomDeleted: everyMember,
};

/**
 * Types that have no data of their own and only contain the types above. identity-access.test.ts tests the payloads of
 * mutations.
 */
const structure =
  /^(__.*|Query|Mutation|Subscription|PageInfo|Pagination|\w+(Page|Payload|Connection)|(Post|Room|Client)Edge)$/;

const typeOf = (name: string) => schema.getType(name) as GraphQLObjectType;

it('the table covers every field of every type with data', () => {
  const subjectTables = Object.values(subjects).map(({ type, sees }) => [type, sees] as const);
  const tables = [...subjectTables, ...Object.entries(events), ...Object.entries(inboxEvents)];
  const types = Object.keys(schema.getTypeMap()).filter((name) => isObjectType(typeOf(name)) && !structure.test(name));
  expect([...new Set(tables.map(([type]) => type))].sort()).toEqual(types.sort());
  for (const [type, sees] of tables)
    expect({ type, fields: Object.keys(sees).sort() }).toEqual({
      type,
      fields: Object.keys(typeOf(type).getFields()).sort(),
    });
});

/** The selection of a field: the items of a list or connection, and the id of an object. */
function selectionOf(type: GraphQLOutputType): string {
  const named = getNamedType(type);
  if (!isCompositeType(named)) return '';
  const fields = isObjectType(named) || isInterfaceType(named) ? named.getFields() : {};
  const inner = ['nodes', 'data'].find((name) => name in fields);
  if (inner !== undefined) return `{ ${inner} { id } }`;
  return 'id' in fields ? '{ id }' : '{ __typename }';
}

function selectAll(type: string, names: readonly string[]): string {
  const fields = typeOf(type).getFields();
  return names.map((name) => `${name} ${selectionOf(fields[name]?.type as GraphQLOutputType)}`).join(' ');
}

it('each role sees in each field what the table says', async () => {
  const cast = await launchTestAccounts();
  const ids = await createObjects(cast);
  const init = { authorization: authorizationOf(cast, 'member') };
  const follower = await ProtocolSocket.open(cast.postroom.webSocketUrl, { init });
  await follower.follow('1', `subscription { roomEvents(room: "${ids.room}") { cursor } }`);
  for (const [subject, { type, at, sees }] of Object.entries(subjects)) {
    const seen = Object.fromEntries(Object.keys(sees).map((name) => [name, '']));
    for (const role of roles) {
      const query = `{ subject: ${at(ids, `fields: __typename ${selectAll(type, Object.keys(sees))}`)} }`;
      const { status, data } = await sendAs(cast.postroom, authorizationOf(cast, role), query);
      expect([200, 401, 403]).toContain(status);
      const refused = { 401: 's', 403: 'f' }[status];
      for (const [name, expected] of Object.entries(sees)) {
        const values = findSubjects(data).map((one) => one[name]);
        const mayBeZero = expected[roles.indexOf(role)] === '?' && values.some((value) => typeof value === 'number');
        seen[name] += refused ?? (mayBeZero ? '?' : values.some(hasContent) ? '✓' : '-');
      }
    }
    expect({ subject, ...seen }).toEqual({ subject, ...sees });
  }
});

/** The objects in a result that have the alias `fields`. */
function findSubjects(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('fields' in value) return [value as Record<string, unknown>];
  return Object.values(value).flatMap(findSubjects);
}

/** Follows the root field as each role. A role that is refused has the letter of its refusal. */
async function followAs(cast: TestAccounts, root: string, table: typeof events): Promise<[ProtocolSocket, string][]> {
  const selections = Object.entries(table).map(
    ([type, sees]) => `... on ${type} { ${selectAll(type, Object.keys(sees))} }`,
  );
  const followers: [ProtocolSocket, string][] = [];
  for (const role of roles) {
    const init = { authorization: authorizationOf(cast, role) };
    const socket = await ProtocolSocket.open(cast.postroom.webSocketUrl, { init });
    socket.subscribe('e', `subscription { event: ${root} { __typename ${selections.join(' ')} } }`);
    const { type, payload } = await socket.take(
      (message) => message.id === 'e' || message.payload?.live?.e !== undefined,
    );
    const refused = type === 'error' ? payload[0].extensions.code : undefined;
    const letters: Record<string, string> = { FORBIDDEN: 'f', NOT_FOUND: '-', UNAUTHENTICATED: '-' };
    followers.push([socket, refused === undefined ? '' : (letters[refused] ?? refused)]);
  }
  return followers;
}

/** Compares what the followers have received with the table. */
function compareEvents(followers: readonly [ProtocolSocket, string][], table: typeof events): void {
  for (const [type, sees] of Object.entries(table)) {
    const seen = Object.fromEntries(Object.keys(sees).map((name) => [name, '']));
    for (const [socket, refusal] of followers) {
      const heard = socket.nexts('e').flatMap(({ data }) => (data?.event.__typename === type ? [data.event] : []));
      for (const name of Object.keys(sees)) {
        seen[name] += refusal === '' ? (heard.some((one) => hasContent(one[name])) ? '✓' : '-') : refusal;
      }
    }
    expect({ type, ...seen }).toEqual({ type, ...sees });
  }
}

it('each role receives in each event what the table says', async () => {
  const cast = await launchTestAccounts();
  const { postroom, owner, member } = cast;
  const { room, other } = await createObjects(cast);
  const followers = await followAs(cast, `roomEvents(room: "${room}")`, events);
  const ask = (mutation: string, { token } = owner) => postroom.ask(`mutation { ${mutation} }`, {}, token);
  const { createPost } = await ask(`createPost(input: { room: "${room}", title: "t" }) { post { id } }`, member);
  await ask(`updatePost(input: { id: "${createPost.post.id}", title: "u" }) { post { id } }`, member);
  await ask(`addRoomMember(input: { room: "${room}", user: "${other}" }) { room { id } }`);
  await ask(`removeRoomMember(input: { room: "${room}", user: "${other}" }) { room { id } }`);
  await ask(`deletePost(input: { id: "${createPost.post.id}" }) { post { id } }`, member);
  await ask(`updateRoom(input: { id: "${room}", name: "renamed" }) { room { id } }`);
  for (const [socket, refusal] of followers) {
    if (refusal === '') await socket.take(({ payload }) => payload?.data?.event.__typename === 'RoomUpdated');
    await socket.settle();
  }
  compareEvents(followers, events);
});

it('each role receives in each event of its inbox what the table says', async () => {
  const cast = await launchTestAccounts();
  const { postroom, owner, member } = cast;
  const { room } = await createObjects(cast);
  const followers = await followAs(cast, 'inbox', inboxEvents);
  const ask = (mutation: string, { token }: Person) => postroom.ask(`mutation { ${mutation} }`, {}, token);
  await ask(`createPost(input: { room: "${room}", title: "t" }) { post { id } }`, owner);
  await ask(`markRead(input: { room: "${room}" }) { room { id } }`, member);
  const ofMember = followers[roles.indexOf('member')]?.[0];
  await ofMember?.take(({ payload }) => payload?.data?.event.__typename === 'RoomRead');
  await ask(`deleteRoom(input: { id: "${room}" }) { room { id } }`, owner);
  for (const [n, [socket]] of followers.entries()) {
    const isMember = [...eachMember][n] === '✓';
    if (isMember) await socket.take(({ payload }) => payload?.data?.event.__typename === 'RoomDeleted');
    await socket.settle();
  }
  compareEvents(followers, inboxEvents);
});
