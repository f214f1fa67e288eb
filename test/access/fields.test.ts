// Runs on SQLite and on PostgreSQL.
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
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import {
  authorizationOf,
  createObjects,
  hasContent,
  type Ids,
  launchTestAccounts,
  roles,
} from '../support/identity/test-accounts.ts';
import { setTyping } from '../support/rooms/present.ts';
import { writeUnknownEvent } from '../support/rooms/unknown-event.ts';

/*
 * For every field of every type, the roles that receive a value in it. The root fields are in the tables of
 * identity-access.test.ts.
 */

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/**
 * The result for each role, in the order of `roles`: ✓ a value · - no value · ? a number, which may be 0 · f forbidden
 * (403) · s not signed in (401).
 */
type Sees = string;
const everyone = '✓✓✓✓✓✓f✓✓';
const insiders = '--✓✓✓✓f✓✓';
const author = '--✓---f--';
const owner = '---✓--f--';
/** The owner of the private room, and admins. */
const hosts = '---✓✓-f-✓';
const hostsMayBeZero = '---??-f-?';
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
      cursor: owner,
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
      cursor: author,
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
      ...{ createdAt: insiders, updatedAt: insiders, members: insiders, posts: insiders, presence: insiders },
      invitations: hosts,
      directUser: nobody,
      ...{ viewerRole: '--✓✓-✓f✓-', lastRead: '--✓✓-✓f✓-', unread: '--??-?f?-' },
    },
  },
  'an invitation to the private room': {
    type: 'Invitation',
    at: ({ room }, fields) => `room(id: "${room}") { invitations { ${fields} } }`,
    sees: {
      ...{ id: hosts, room: hosts, uses: hosts, used: hostsMayBeZero, createdBy: hosts, createdAt: hosts },
      expiresAt: hosts,
    },
  },
  'the public room': {
    type: 'Room',
    at: ({ publicRoom }, fields) => `room(id: "${publicRoom}") { ${fields} }`,
    sees: {
      ...{ id: everyone, name: everyone, visibility: everyone, version: everyone, owner: everyone, cursor: everyone },
      ...{ createdAt: everyone, updatedAt: everyone, members: everyone, posts: nobody, presence: everyone },
      ...{ viewerRole: owner, lastRead: owner, unread: '---?--f--', invitations: nobody },
      directUser: nobody,
    },
  },
  'the presence in the private room': {
    type: 'RoomPresence',
    at: ({ room }, fields) => `room(id: "${room}") { presence { ${fields} } }`,
    sees: { room: insiders, count: insiders, users: insiders, typing: insiders },
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
  'the load of the server': {
    type: 'Load',
    at: (_, fields) => `load { ${fields} }`,
    sees: { users: admins, addresses: admins },
  },
  'the load of a user': {
    type: 'UserLoad',
    at: (_, fields) => `load { users { ${fields} } }`,
    sees: { user: admins, operations: admins, deliveries: adminsMayBeZero, refusals: adminsMayBeZero },
  },
  'the load of an address': {
    type: 'AddressLoad',
    at: (_, fields) => `load { addresses { ${fields} } }`,
    sees: { address: admins, operations: admins, deliveries: adminsMayBeZero, refusals: adminsMayBeZero },
  },
  'an operation that was refused, without a name': {
    type: 'Refusal',
    at: (_, fields) => `refusals { ${fields} }`,
    sees: {
      ...{ time: admins, node: admins, requestId: admins, code: admins, reason: admins, address: admins },
      viewer: admins,
      operation: 'sfff-fff-',
    },
  },
};

/** The fields of the events of the private room, for those who see it. */
function eventsFor(sees: Sees): Record<string, Record<string, Sees>> {
  const everyEvent = { at: sees, cursor: sees, room: sees, actor: sees };
  return {
    PostCreated: { ...everyEvent, post: sees },
    PostUpdated: { ...everyEvent, post: sees },
    // The post was deleted, so that no role can read its content.
    PostDeleted: { ...everyEvent, postId: sees },
    MemberJoined: { ...everyEvent, user: sees },
    MemberLeft: { ...everyEvent, user: sees },
    RoomUpdated: everyEvent,
    OtherEvent: everyEvent,
  };
}

const members = 's-✓✓-✓f✓-';
const onlyMember = 's-✓---f--';

/** The events of the private room in an inbox. The member has marked the room as read. */
const inboxEvents: Record<string, Record<string, Sees>> = {
  ...eventsFor(members),
  RoomRead: { at: onlyMember, cursor: onlyMember, room: onlyMember, actor: onlyMember },
  RoomDeleted: { at: members, cursor: members, room: members, actor: members },
};

/**
 * Types that have no data of their own and only contain the types above. identity-access.test.ts tests the payloads of
 * mutations.
 */
const structure =
  /^(__.*|Query|Mutation|Subscription|PageInfo|Pagination|\w+(Page|Payload|Connection)|(Post|Room|Client)Edge)$/;

const typeOf = (name: string) => schema.getType(name) as GraphQLObjectType;

it('the table covers every field of every type with data', () => {
  const tables = [
    ...Object.values(subjects).map(({ type, sees }) => [type, sees] as const),
    ...Object.entries(inboxEvents),
  ];
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
  follower.subscribe('2', `subscription { roomPresence(room: "${ids.room}") { count } }`);
  await follower.take(({ id }) => id === '2');
  for (const [subject, { type, at, sees }] of Object.entries(subjects)) {
    // It lasts for five seconds.
    if (type === 'RoomPresence') await cast.postroom.ask(`mutation { ${setTyping(ids.room)} }`, {}, cast.member.token);
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

it.each([
  ['roomEvents', eventsFor(insiders)],
  ['inbox', inboxEvents],
])('each role receives in each event of %s what the table says', async (stream, events) => {
  const cast = await launchTestAccounts();
  const { postroom, file, owner, member } = cast;
  const { room, other } = await createObjects(cast);
  const selections = Object.entries(events).map(
    ([type, sees]) => `... on ${type} { ${selectAll(type, Object.keys(sees))} }`,
  );
  const field = stream === 'inbox' ? stream : `${stream}(room: "${room}")`;
  const query = `subscription { ${field} { __typename ${selections.join(' ')} } }`;
  const outcomes: Record<string, string> = { NOT_FOUND: '-', FORBIDDEN: 'f', UNAUTHENTICATED: 's' };
  const followers = new Map<string, ProtocolSocket>();
  const refusals: string[] = [];
  for (const role of roles) {
    const init = { authorization: authorizationOf(cast, role) };
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
    socket.subscribe('e', query);
    const { type, payload } = await socket.take(
      (message) => message.id === 'e' || message.payload?.live?.e !== undefined,
    );
    refusals.push((type === 'error' && outcomes[payload[0].extensions.code]) || '');
    followers.set(role, socket);
  }
  const receiveAll = async (last: string) => {
    for (const [n, socket] of [...followers.values()].entries()) {
      if (events[last]?.['at']?.[n] === '✓')
        await socket.take(({ payload }) => payload?.data?.[stream].__typename === last);
      await socket.settle();
    }
  };
  const ask = (mutation: string, { token } = owner) => postroom.ask(`mutation { ${mutation} }`, {}, token);
  const { createPost } = await ask(`createPost(input: { room: "${room}", title: "t" }) { post { id } }`, member);
  await ask(`updatePost(input: { id: "${createPost.post.id}", title: "u" }) { post { id } }`, member);
  await ask(`addRoomMember(input: { room: "${room}", user: "${other}" }) { room { id } }`);
  await ask(`removeRoomMember(input: { room: "${room}", user: "${other}" }) { room { id } }`);
  await ask(`deletePost(input: { id: "${createPost.post.id}" }) { post { id } }`, member);
  await ask(`markRead(input: { room: "${room}" }) { room { id } }`, member);
  writeUnknownEvent(file, { room, actor: owner.id });
  await ask(`updateRoom(input: { id: "${room}", name: "renamed" }) { room { id } }`);
  await receiveAll('RoomUpdated');
  await ask(`deleteRoom(input: { id: "${room}" }) { room { id } }`);
  if ('RoomDeleted' in events) await receiveAll('RoomDeleted');
  for (const [type, sees] of Object.entries(events)) {
    const seen = Object.fromEntries(Object.keys(sees).map((name) => [name, '']));
    for (const [n, socket] of [...followers.values()].entries()) {
      const heard = socket.nexts('e').flatMap(({ data }) => (data?.[stream].__typename === type ? [data[stream]] : []));
      for (const name of Object.keys(sees))
        seen[name] += refusals[n] || (heard.some((one) => hasContent(one[name])) ? '✓' : '-');
    }
    expect({ type, ...seen }).toEqual({ type, ...sees });
  }
});
