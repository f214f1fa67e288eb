import { readFileSync } from 'node:fs';
import { buildSchema, isObjectType } from 'graphql';
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
import { launchForTest } from '../support/server/postroom.ts';

const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));

/**
 * The outcome for each role, in the order of `roles`: ✓ success (200) · s not signed in (401) · f forbidden (403) ·
 * n not found (404) · c conflict (409).
 */
type Outcomes = string;
const statuses: Record<string, number> = { '✓': 200, s: 401, f: 403, n: 404, c: 409 };

interface Row {
  call: (ids: Ids) => string;
  outcomes: Outcomes;
}

const mutations: Record<string, Row[]> = {
  signUp: [
    {
      call: ({ unique }) =>
        `signUp(input: { name: "x", email: "${unique}@x.org", password: "long enough" }) { expiresAt }`,
      outcomes: '✓✓✓✓✓f✓✓✓',
    },
  ],
  signIn: [
    {
      call: () => 'signIn(input: { email: "fixture@example.org", password: "correct horse" }) { expiresAt }',
      outcomes: '✓✓✓✓✓f✓✓✓',
    },
  ],
  signInWithLink: [
    { call: () => 'signInWithLink(input: { token: "not a link" }) { expiresAt }', outcomes: 'sssssfsss' },
  ],
  renewSession: [{ call: () => 'renewSession { expiresAt }', outcomes: 's✓✓✓✓ffff' }],
  changePassword: [
    {
      call: () => 'changePassword(input: { currentPassword: "not this", newPassword: "long enough" }) { expiresAt }',
      // Only a session can change a password, and the current password in this call is wrong.
      outcomes: 'sffffffff',
    },
  ],
  createApiKey: [
    { call: () => 'createApiKey(input: { name: "k", scopes: [READ] }) { key }', outcomes: 's✓✓✓✓ffff' },
    { call: () => 'createApiKey(input: { name: "k", scopes: [ADMIN] }) { key }', outcomes: 'sfff✓ffff' },
  ],
  revokeApiKey: [
    { call: ({ apiKey }) => `revokeApiKey(input: { id: "${apiKey}" }) { apiKey { id } }`, outcomes: 'snn✓✓fnn✓' },
  ],
  createInvitation: [
    { call: ({ room }) => `createInvitation(input: { room: "${room}" }) { code }`, outcomes: 'snf✓✓fff✓' },
  ],
  revokeInvitation: [
    {
      call: ({ room, invitation }) =>
        `revokeInvitation(input: { room: "${room}", id: "${invitation}" }) { invitation { id } }`,
      outcomes: 'snf✓✓fff✓',
    },
  ],
  updateUser: [
    { call: ({ owner }) => `updateUser(input: { id: "${owner}", name: "y" }) { user { id } }`, outcomes: 'sff✓fffff' },
  ],
  replaceUser: [
    {
      call: ({ owner }) =>
        `replaceUser(input: { id: "${owner}", name: "y", email: "owner@example.org" }) { user { id } }`,
      outcomes: 'sff✓fffff',
    },
  ],
  deleteUser: [{ call: ({ other }) => `deleteUser(input: { id: "${other}" }) { user { id } }`, outcomes: 'sfff✓fff✓' }],
  createRoom: [
    { call: ({ unique }) => `createRoom(input: { name: "${unique}" }) { room { id } }`, outcomes: 's✓✓✓✓f✓✓✓' },
  ],
  updateRoom: [
    {
      call: ({ room }) => `updateRoom(input: { id: "${room}", visibility: PRIVATE }) { room { id } }`,
      outcomes: 'snf✓✓fff✓',
    },
    { call: ({ publicRoom }) => `updateRoom(input: { id: "${publicRoom}" }) { room { id } }`, outcomes: 'sff✓✓fff✓' },
  ],
  replaceRoom: [
    {
      call: ({ room, unique }) =>
        `replaceRoom(input: { id: "${room}", name: "${unique}", visibility: PRIVATE }) { room { id } }`,
      outcomes: 'snf✓✓fff✓',
    },
  ],
  deleteRoom: [{ call: ({ room }) => `deleteRoom(input: { id: "${room}" }) { room { id } }`, outcomes: 'snf✓✓fff✓' }],
  joinRoom: [
    // A private room is visible to an admin, but an admin who is not a member cannot join it.
    { call: ({ room }) => `joinRoom(input: { room: "${room}" }) { room { id } }`, outcomes: 'sn✓✓ff✓✓f' },
    { call: ({ publicRoom }) => `joinRoom(input: { room: "${publicRoom}" }) { room { id } }`, outcomes: 's✓✓✓✓f✓✓✓' },
  ],
  leaveRoom: [{ call: ({ room }) => `leaveRoom(input: { room: "${room}" }) { room { id } }`, outcomes: 'sn✓c✓f✓✓✓' }],
  openDirectRoom: [
    { call: ({ other }) => `openDirectRoom(input: { user: "${other}" }) { room { id } }`, outcomes: 's✓✓✓✓f✓✓✓' },
  ],
  addRoomMember: [
    {
      call: ({ room, other }) => `addRoomMember(input: { room: "${room}", user: "${other}" }) { room { id } }`,
      outcomes: 'snf✓✓fff✓',
    },
  ],
  removeRoomMember: [
    {
      call: ({ room, other }) => `removeRoomMember(input: { room: "${room}", user: "${other}" }) { room { id } }`,
      outcomes: 'snf✓✓fff✓',
    },
    {
      call: ({ room, owner }) => `removeRoomMember(input: { room: "${room}", user: "${owner}" }) { room { id } }`,
      outcomes: 'snfccfffc',
    },
  ],
  markRead: [
    { call: ({ room }) => `markRead(input: { room: "${room}" }) { room { id } }`, outcomes: 'sn✓✓ff✓✓f' },
    {
      call: ({ room, post }) => `markRead(input: { room: "${room}", post: "${post}" }) { room { id } }`,
      outcomes: 'sn✓✓ff✓✓f',
    },
    { call: ({ publicRoom }) => `markRead(input: { room: "${publicRoom}" }) { room { id } }`, outcomes: 'sff✓fffff' },
  ],
  createPost: [
    // A private room is visible to an admin, but only members can create posts in it.
    { call: ({ room }) => `createPost(input: { room: "${room}", title: "t" }) { post { id } }`, outcomes: 'sn✓✓ff✓✓f' },
    {
      call: ({ publicRoom }) => `createPost(input: { room: "${publicRoom}", title: "t" }) { post { id } }`,
      outcomes: 's✓✓✓✓f✓✓✓',
    },
  ],
  updatePost: [
    { call: ({ post }) => `updatePost(input: { id: "${post}", title: "t" }) { post { id } }`, outcomes: 'sn✓ffffff' },
  ],
  replacePost: [
    { call: ({ post }) => `replacePost(input: { id: "${post}", title: "t" }) { post { id } }`, outcomes: 'sn✓ffffff' },
  ],
  publishPost: [
    { call: ({ post }) => `publishPost(input: { id: "${post}" }) { post { id } }`, outcomes: 'sn✓ffffff' },
    { call: ({ draft }) => `publishPost(input: { id: "${draft}" }) { post { id } }`, outcomes: 'sn✓nnfnnn' },
  ],
  deletePost: [
    { call: ({ post }) => `deletePost(input: { id: "${post}" }) { post { id } }`, outcomes: 'sn✓f✓fff✓' },
    { call: ({ draft }) => `deletePost(input: { id: "${draft}" }) { post { id } }`, outcomes: 'sn✓nnfnnn' },
  ],
  // The connection does not exist.
  endConnection: [{ call: ({ owner }) => `endConnection(input: { id: "${owner}" }) { id }`, outcomes: 'sfffnfffn' }],
  muteUser: [
    {
      call: ({ room, other }) =>
        `muteUser(input: { room: "${room}", user: "${other}", until: "2099-01-31T00:00:00Z" }) { until }`,
      outcomes: 'sfff✓fff✓',
    },
    {
      call: ({ room, owner }) => `muteUser(input: { room: "${room}", user: "${owner}" }) { until }`,
      outcomes: 'sfff✓fff✓',
    },
  ],
  setTyping: [
    {
      call: ({ room }) => `setTyping(input: { room: "${room}", typing: true }) { room { id } }`,
      outcomes: 'sn✓✓ff✓✓f',
    },
    {
      call: ({ room }) => `setTyping(input: { room: "${room}", typing: false }) { room { id } }`,
      outcomes: 'sn✓✓ff✓✓f',
    },
    {
      call: ({ publicRoom }) => `setTyping(input: { room: "${publicRoom}", typing: true }) { room { id } }`,
      outcomes: 's✓✓✓✓f✓✓✓',
    },
  ],
};

interface ReadRow {
  call: (ids: Ids) => string;
  /**
   * The result for each role, in the order of `roles`: ✓ a value · - null, an empty list, a count of zero, or for a
   * subscription NOT_FOUND · f forbidden (403) · s not signed in (401).
   */
  sees: string;
}

const queries: Record<string, ReadRow[]> = {
  viewer: [{ call: () => 'viewer { id }', sees: '-✓✓✓✓✓f✓✓' }],
  node: [
    { call: ({ room }) => `node(id: "${room}") { id }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ post }) => `node(id: "${post}") { id }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ draft }) => `node(id: "${draft}") { id }`, sees: '--✓---f--' },
    { call: ({ owner }) => `node(id: "${owner}") { id }`, sees: '✓✓✓✓✓✓f✓✓' },
    { call: ({ apiKey }) => `node(id: "${apiKey}") { id }`, sees: '------f--' },
  ],
  user: [
    { call: ({ owner }) => `user(id: "${owner}") { id }`, sees: '✓✓✓✓✓✓f✓✓' },
    { call: ({ owner }) => `user(id: "${owner}") { email }`, sees: '---✓✓-f-✓' },
    { call: ({ owner }) => `user(id: "${owner}") { apiKeys { id } }`, sees: '---✓--f--' },
    { call: ({ owner }) => `user(id: "${owner}") { rooms { nodes { id } } }`, sees: '---✓--f--' },
    { call: ({ owner }) => `user(id: "${owner}") { rooms { pageInfo { endCursor } } }`, sees: '---✓--f--' },
  ],
  post: [
    { call: ({ post }) => `post(id: "${post}") { id }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ draft }) => `post(id: "${draft}") { id }`, sees: '--✓---f--' },
    { call: ({ post }) => `post(id: "${post}") { author { posts { id } } }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ post }) => `post(id: "${post}") { author { drafts { data { id } } } }`, sees: '--✓---f--' },
  ],
  room: [
    {
      call: ({ room }) => `room(id: "${room}") { id members { nodes { id } } posts { nodes { id } } cursor }`,
      sees: '--✓✓✓✓f✓✓',
    },
    { call: ({ room }) => `room(id: "${room}") { viewerRole }`, sees: '--✓✓-✓f✓-' },
    // The member wrote the only post.
    { call: ({ room }) => `room(id: "${room}") { unread }`, sees: '---✓-✓f✓-' },
    { call: ({ room }) => `room(id: "${room}") { lastRead }`, sees: '--✓✓-✓f✓-' },
    { call: ({ publicRoom }) => `room(id: "${publicRoom}") { lastRead }`, sees: '---✓--f--' },
    { call: ({ publicRoom }) => `room(id: "${publicRoom}") { id }`, sees: '✓✓✓✓✓✓f✓✓' },
    { call: ({ publicRoom }) => `room(id: "${publicRoom}") { viewerRole }`, sees: '---✓--f--' },
    { call: ({ room }) => `room(id: "${room}") { presence { room { id } } }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ publicRoom }) => `room(id: "${publicRoom}") { presence { room { id } } }`, sees: '✓✓✓✓✓✓f✓✓' },
  ],
  roomByName: [{ call: ({ unique }) => `roomByName(name: "den ${unique}") { id }`, sees: '--✓✓✓✓f✓✓' }],
  users: [
    { call: () => 'users { data { id } }', sees: '✓✓✓✓✓✓f✓✓' },
    { call: ({ unique }) => `users(filter: { name: "owner ${unique}" }) { data { email } }`, sees: '---✓✓-f-✓' },
  ],
  posts: [
    { call: ({ room }) => `posts(filter: { room: "${room}" }) { data { id } }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ room }) => `posts(filter: { room: "${room}" }) { pagination { total } }`, sees: '--✓✓✓✓f✓✓' },
  ],
  rooms: [
    { call: ({ unique }) => `rooms(filter: { name: "den ${unique}" }) { data { id } }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ unique }) => `rooms(filter: { name: "den ${unique}" }) { pagination { total } }`, sees: '--✓✓✓✓f✓✓' },
  ],
  connections: [
    { call: () => 'connections { __typename total nodes { id } }', sees: 'sfff✓fff✓' },
    { call: () => 'connections(first: 1) { pageInfo { hasNextPage } }', sees: 'sfff✓fff✓' },
  ],
  serverStatus: [{ call: () => 'serverStatus { time nodes { name } }', sees: 'sfff✓fff✓' }],
  load: [{ call: () => 'load { addresses { operations } }', sees: 'sfff✓fff✓' }],
  refusals: [{ call: () => 'refusals { code reason }', sees: 'sfff✓fff✓' }],
};

const subscriptions: Record<string, ReadRow[]> = {
  roomEvents: [
    { call: ({ room }) => `roomEvents(room: "${room}") { __typename }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ publicRoom }) => `roomEvents(room: "${publicRoom}") { __typename }`, sees: '✓✓✓✓✓✓f✓✓' },
  ],
  postAdded: [
    { call: ({ room }) => `postAdded(room: "${room}") { id }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ publicRoom }) => `postAdded(room: "${publicRoom}") { id }`, sees: '✓✓✓✓✓✓f✓✓' },
  ],
  inbox: [{ call: () => 'inbox { __typename }', sees: 's✓✓✓✓✓f✓✓' }],
  roomPresence: [
    { call: ({ room }) => `roomPresence(room: "${room}") { count }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ room }) => `roomPresence(room: "${room}", visible: false) { count }`, sees: '--✓✓✓✓f✓✓' },
    { call: ({ publicRoom }) => `roomPresence(room: "${publicRoom}") { count }`, sees: '✓✓✓✓✓✓f✓✓' },
  ],
  serverStatusChanged: [{ call: () => 'serverStatusChanged { time }', sees: 'sfff✓fff✓' }],
};

it.each([
  ['Mutation', mutations],
  ['Query', queries],
  ['Subscription', subscriptions],
])('every field of %s has a row in the table', (type, rows) => {
  const found = schema.getType(type);
  expect(Object.keys(rows).sort()).toEqual(isObjectType(found) ? Object.keys(found.getFields()).sort() : []);
});

it('each mutation does for each role what the table says', async () => {
  const cast = await launchTestAccounts();
  let ids = await createObjects(cast);
  for (const { call, outcomes } of Object.values(mutations).flat()) {
    const found: Record<string, number> = {};
    const told: Record<string, number | undefined> = {};
    for (const [index, role] of roles.entries()) {
      const { status } = await sendAs(cast.postroom, authorizationOf(cast, role), `mutation { ${call(ids)} }`);
      found[role] = status;
      told[role] = statuses[[...outcomes][index] ?? ''];
      // A refused mutation changes nothing, so the same objects can be used again.
      if (status === 200) ids = await createObjects(cast);
    }
    expect({ call: call.toString(), ...found }).toEqual({ call: call.toString(), ...told });
  }
}, 120_000);

it('each role reads what the table allows, and nothing else', async () => {
  const cast = await launchTestAccounts();
  const ids = await createObjects(cast);
  for (const { call, sees } of Object.values(queries).flat()) {
    let seen = '';
    for (const role of roles) {
      const { status, data } = await sendAs(cast.postroom, authorizationOf(cast, role), `{ ${call(ids)} }`);
      const refused = { 401: 's', 403: 'f' }[status];
      seen += refused ?? (hasContent(data) ? '✓' : '-');
      if (refused === undefined) expect([call(ids), role, status]).toEqual([call(ids), role, 200]);
    }
    expect([call(ids), seen]).toEqual([call(ids), sees]);
  }
});

it('each role can subscribe to the rooms that the table allows; the other rooms do not exist for it', async () => {
  const cast = await launchTestAccounts();
  const ids = await createObjects(cast);
  for (const role of roles) {
    const authorization = authorizationOf(cast, role);
    const socket = await ProtocolSocket.open(cast.postroom.webSocketUrl, { init: { authorization } });
    for (const { call, sees } of Object.values(subscriptions).flat()) {
      const id = call(ids);
      socket.subscribe(id, `subscription { ${id} }`);
      const answer = await socket.take((message) => message.id === id || message.payload?.live?.[id] !== undefined);
      const code = answer.type === 'error' ? answer.payload[0].extensions.code : undefined;
      const outcomes: Record<string, string> = { NOT_FOUND: '-', FORBIDDEN: 'f', UNAUTHENTICATED: 's' };
      // A stream that cannot be resumed begins with its first result instead of a cursor.
      const outcome = answer.type === 'error' ? outcomes[code] : '✓';
      expect([role, id, outcome]).toEqual([role, id, [...sees][roles.indexOf(role)]]);
    }
  }
});

it('credentials without READ read nothing, and those without WRITE change nothing', async () => {
  const { postroom, owner } = await launchTestAccounts();
  const { createApiKey } = await postroom.ask(
    'mutation { createApiKey(input: { name: "w", scopes: [WRITE] }) { key } }',
    {},
    owner.token,
  );
  const authorization = `ApiKey ${createApiKey.key}`;
  expect(await sendAs(postroom, authorization)).toMatchObject({
    status: 403,
    errors: [{ extensions: { scope: 'READ' } }],
  });
  const room = 'mutation { createRoom(input: { name: "by a key" }) { room { id } } }';
  expect(await sendAs(postroom, authorization, room)).toMatchObject({ status: 200 });
  const grant = 'mutation { createApiKey(input: { name: "r", scopes: [READ] }) { key } }';
  expect(await sendAs(postroom, authorization, grant)).toMatchObject({ status: 403 });
});

it('credentials in the URL are ignored', async () => {
  const { postroom, owner, applications } = await launchTestAccounts();
  const query = encodeURIComponent('{ viewer { id } }');
  for (const given of [`access_token=${owner.token}`, `authorization=ApiKey ${applications['key READ'].key}`]) {
    const response = await fetch(`${postroom.graphqlUrl}?query=${query}&${encodeURI(given)}`);
    expect(await response.json()).toEqual({ data: { viewer: null } });
    const socket = await ProtocolSocket.open(`${postroom.webSocketUrl}?${encodeURI(given)}`);
    socket.subscribe('q', '{ viewer { id } }');
    expect(await socket.take(({ id }) => id === 'q')).toMatchObject({ payload: { data: { viewer: null } } });
  }
});

it('an API key of an admin acts as an admin only with the ADMIN scope', async () => {
  const { postroom, admin, owner } = await launchTestAccounts();
  const query = `{ user(id: "${owner.id}") { email } }`;
  for (const [scopes, email] of [
    ['READ ADMIN', owner.email],
    ['READ', null],
  ]) {
    const make = `mutation { createApiKey(input: { name: "a", scopes: [${scopes}] }) { key } }`;
    const { createApiKey } = await postroom.ask(make, {}, admin.token);
    expect((await sendAs(postroom, `ApiKey ${createApiKey.key}`, query)).data).toEqual({ user: { email } });
  }
});

it('with AUTH_REQUIRED, a client without credentials can only sign up and sign in; its socket stays open so that it can sign in', async () => {
  const postroom = await launchForTest({ AUTH_REQUIRED: 'true' });
  expect(await sendAs(postroom, undefined, '{ rooms { data { id } } }')).toMatchObject({ status: 401 });
  const ada = await postroom.signUp('Ada');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.subscribe('a', '{ rooms { data { id } } }');
  expect(await socket.take(({ id }) => id === 'a')).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
  const useLink = 'mutation { signInWithLink(input: { token: "not a link" }) { accessToken } }';
  expect(await sendAs(postroom, undefined, useLink)).toMatchObject({
    errors: [{ message: expect.stringContaining('link') }],
  });
  socket.send({ type: 'ping', payload: { authorization: `Bearer ${ada.token}` } });
  await socket.take(({ type }) => type === 'pong');
  socket.subscribe('b', '{ viewer { name } }');
  expect(await socket.take(({ id }) => id === 'b')).toMatchObject({ payload: { data: { viewer: { name: 'Ada' } } } });
});

it('a query over a socket returns the viewer as it is now, not as it was when the socket was opened', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
  await postroom.ask(
    `mutation { updateUser(input: { id: "${ada.id}", name: "Countess" }) { user { id } } }`,
    {},
    ada.token,
  );
  socket.subscribe('a', '{ viewer { name } }');
  expect(await socket.take(({ id }) => id === 'a')).toMatchObject({
    payload: { data: { viewer: { name: 'Countess' } } },
  });
});

it('a mutation on a user that does not exist, or no longer exists, changes nothing', async () => {
  const { postroom, owner, member, admin } = await launchTestAccounts();
  const room = await postroom.createRoom(owner, 'hall');
  await postroom.ask(`mutation { deleteUser(input: { id: "${member.id}" }) { user { id } } }`, {}, member.token);
  for (const id of [member.id, room, 'nothing']) {
    for (const [call, { token }] of [
      [`addRoomMember(input: { room: "${room}", user: "${id}" }) { room { id } }`, owner],
      [`removeRoomMember(input: { room: "${room}", user: "${id}" }) { room { id } }`, owner],
      [`updateUser(input: { id: "${id}", name: "x" }) { user { id } }`, owner],
      [`deleteUser(input: { id: "${id}" }) { user { id } }`, admin],
    ] as const) {
      expect([call, (await postroom.send(`mutation { ${call} }`, {}, token)).code]).toEqual([call, 'NOT_FOUND']);
    }
  }
});

it('a user who has deleted their account changes nothing more, even in the same request', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const reply = await postroom.send(
    `mutation {
      deleteUser(input: { id: "${ada.id}" }) { user { id } }
      createRoom(input: { name: "left behind" }) { room { id } }
    }`,
    {},
    ada.token,
  );
  expect(reply.code).toBe('UNAUTHENTICATED');
  expect(await postroom.ask('{ rooms { data { id } } }')).toEqual({ rooms: { data: [] } });
});

/** Half of the recommended cost: hashing takes long enough that the operations overlap. */
const slowHashing = { passwordCost: { memory: 9_728, passes: 2 } };

it('when two sessions set a new password at the same time, one succeeds and the other is ended', async () => {
  const postroom = await launchForTest({}, slowHashing);
  const ada = await postroom.signUp('Ada');
  const signIn = `mutation { signIn(input: { email: "${ada.email}", password: "${ada.password}" }) { accessToken } }`;
  const other: string = (await postroom.ask(signIn)).signIn.accessToken;
  const change = (password: string) =>
    `mutation { changePassword(input: { currentPassword: "${ada.password}", newPassword: "${password}" }) { user { id } } }`;
  const replies = await Promise.all([
    postroom.send(change('the first horse'), {}, ada.token),
    postroom.send(change('the second horse'), {}, other),
  ]);
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
});

it('when one session sets two new passwords at the same time, one succeeds and ends the session', async () => {
  const postroom = await launchForTest({}, slowHashing);
  const ada = await postroom.signUp('Ada');
  const change = (password: string) =>
    `mutation { changePassword(input: { currentPassword: "${ada.password}", newPassword: "${password}" }) { user { id } } }`;
  const replies = await Promise.all(
    ['the first horse', 'the second horse'].map((password) => postroom.send(change(password), {}, ada.token)),
  );
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 401]);
});

it('a sign-in with the old password while the password is being changed does not stay signed in', async () => {
  const postroom = await launchForTest({}, slowHashing);
  const ada = await postroom.signUp('Ada');
  const signIn = `mutation { signIn(input: { email: "${ada.email}", password: "${ada.password}" }) { accessToken } }`;
  const change = `mutation { changePassword(input: { currentPassword: "${ada.password}", newPassword: "a new horse" }) { accessToken } }`;
  const changing = postroom.ask(change, {}, ada.token);
  const replies = await Promise.all(Array.from({ length: 8 }, () => postroom.send(signIn)));
  const { changePassword } = await changing;
  expect([200, 401]).toEqual(expect.arrayContaining(replies.map(({ status }) => status)));
  for (const { data } of replies) {
    if (data?.signIn)
      expect(await postroom.send('{ viewer { id } }', {}, data.signIn.accessToken)).toMatchObject({ status: 401 });
  }
  expect((await postroom.send('{ viewer { id } }', {}, changePassword.accessToken)).status).toBe(200);
});
