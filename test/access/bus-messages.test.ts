import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { expect, expectTypeOf, it } from 'vitest';
import type { EventContent } from '../../src/data/event-log/events.ts';
import { publicUserColumns, type UserRow } from '../../src/data/tables.ts';
import type { BusMessage, NodeMessage, WakeUp } from '../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../src/live/bus/memory.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, type Person, run, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

interface Ids {
  ada: Person;
  bob: Person;
  link: string;
  connection: string;
  room: string;
  post: string;
  draft: string;
  key: string;
  invitation: string;
}

/** One call of each mutation, in an order in which all calls succeed. Ada owns the room; Bob joins it and leaves it. */
const calls: Record<string, (ids: Ids) => { by: 'ada' | 'bob'; call: string }> = {
  signUp: () => ({
    by: 'ada',
    call: 'signUp(input: { name: "Eve", email: "eve@example.org", password: "long enough" }) { expiresAt }',
  }),
  signIn: ({ ada }) => ({
    by: 'ada',
    call: `signIn(input: { email: "${ada.email}", password: "${ada.password}" }) { expiresAt }`,
  }),
  signInWithLink: ({ link }) => ({ by: 'ada', call: `signInWithLink(input: { token: "${link}" }) { accessToken }` }),
  renewSession: () => ({ by: 'ada', call: 'renewSession { expiresAt }' }),
  createApiKey: () => ({ by: 'ada', call: 'createApiKey(input: { name: "app", scopes: [READ] }) { key }' }),
  createInvitation: ({ room }) => ({ by: 'ada', call: `createInvitation(input: { room: "${room}" }) { code }` }),
  revokeInvitation: ({ room, invitation }) => ({
    by: 'ada',
    call: `revokeInvitation(input: { room: "${room}", id: "${invitation}" }) { invitation { id } }`,
  }),
  createRoom: () => ({ by: 'ada', call: 'createRoom(input: { name: "other" }) { room { id } }' }),
  updateUser: ({ ada }) => ({
    by: 'ada',
    call: `updateUser(input: { id: "${ada.id}", email: "new.${ada.email}" }) { user { email } }`,
  }),
  replaceUser: ({ ada }) => ({
    by: 'ada',
    call: `replaceUser(input: { id: "${ada.id}", name: "Ada", email: "${ada.email}" }) { user { email } }`,
  }),
  createPost: ({ room }) => ({ by: 'ada', call: `createPost(input: { room: "${room}", title: "t" }) { post { id } }` }),
  publishPost: ({ draft }) => ({ by: 'ada', call: `publishPost(input: { id: "${draft}" }) { post { id } }` }),
  updatePost: ({ post }) => ({ by: 'ada', call: `updatePost(input: { id: "${post}", title: "u" }) { post { id } }` }),
  replacePost: ({ post }) => ({ by: 'ada', call: `replacePost(input: { id: "${post}", title: "v" }) { post { id } }` }),
  deletePost: ({ post }) => ({ by: 'ada', call: `deletePost(input: { id: "${post}" }) { post { id } }` }),
  joinRoom: ({ room }) => ({ by: 'bob', call: `joinRoom(input: { room: "${room}" }) { room { id } }` }),
  markRead: ({ room }) => ({ by: 'ada', call: `markRead(input: { room: "${room}" }) { room { id } }` }),
  leaveRoom: ({ room }) => ({ by: 'bob', call: `leaveRoom(input: { room: "${room}" }) { room { id } }` }),
  openDirectRoom: ({ bob }) => ({
    by: 'ada',
    call: `openDirectRoom(input: { user: "${bob.id}" }) { room { id } }`,
  }),
  addRoomMember: ({ room, bob }) => ({
    by: 'ada',
    call: `addRoomMember(input: { room: "${room}", user: "${bob.id}" }) { room { id } }`,
  }),
  removeRoomMember: ({ room, bob }) => ({
    by: 'ada',
    call: `removeRoomMember(input: { room: "${room}", user: "${bob.id}" }) { room { id } }`,
  }),
  updateRoom: ({ room }) => ({ by: 'ada', call: `updateRoom(input: { id: "${room}", name: "r" }) { room { id } }` }),
  replaceRoom: ({ room }) => ({
    by: 'ada',
    call: `replaceRoom(input: { id: "${room}", name: "s", visibility: PUBLIC }) { room { id } }`,
  }),
  changePassword: ({ ada }) => ({
    by: 'ada',
    call: `changePassword(input: { currentPassword: "${ada.password}", newPassword: "a new horse" }) { accessToken }`,
  }),
  endConnection: ({ connection }) => ({ by: 'ada', call: `endConnection(input: { id: "${connection}" }) { id }` }),
  muteUser: ({ room, bob }) => ({
    by: 'ada',
    call: `muteUser(input: { room: "${room}", user: "${bob.id}", until: "2099-01-31T00:00:00Z" }) { until }`,
  }),
  setTyping: ({ room }) => ({ by: 'ada', call: `setTyping(input: { room: "${room}", typing: true }) { room { id } }` }),
  revokeApiKey: ({ key }) => ({ by: 'ada', call: `revokeApiKey(input: { id: "${key}" }) { apiKey { id } }` }),
  deleteUser: ({ bob }) => ({ by: 'bob', call: `deleteUser(input: { id: "${bob.id}" }) { user { email } }` }),
  deleteRoom: ({ room }) => ({ by: 'ada', call: `deleteRoom(input: { id: "${room}" }) { room { id } }` }),
};

/** The mutations that publish no message on the bus. */
const silent = [
  'signUp',
  'signIn',
  'renewSession',
  'createApiKey',
  'createInvitation',
  'revokeInvitation',
  'updateUser',
  'replaceUser',
  'endConnection',
  // Without other nodes.
  'setTyping',
];

/** The types of messages that changes publish. The compiler reports a type that is missing here. */
const kinds: Record<Exclude<BusMessage, NodeMessage | WakeUp>['type'], true> = {
  userMuted: true,
  roomChanged: true,
  roomDeleted: true,
  userDeleted: true,
  keyRevoked: true,
  passwordChanged: true,
  membershipsChanged: true,
  roomRead: true,
  contentErased: true,
};

/** The names of the private columns of users and API keys, and all text values in these columns. */
function readPrivate(file: string): { names: string[]; texts: string[] } {
  return withDatabase(file, (database) => {
    const isPublic = (name: string) => publicUserColumns.some((column) => column === name);
    const users = database.prepare('select * from users').all();
    const hidden = users.flatMap((row) => Object.entries(row).filter(([name]) => !isPublic(name)));
    const keys = database.prepare('select "prefix", "hash" from "apiKeys"').all().flatMap(Object.entries);
    const texts = [...hidden, ...keys].flatMap(([, value]) => (typeof value === 'string' ? [value] : []));
    return { names: [...new Set([...hidden, ...keys].map(([name]) => name))], texts };
  });
}

/** The property names of an object and of all objects in it. */
function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}

/** The message `passwordChanged` must contain a private column: it decides which sessions the new password revokes. */
function withoutSessions(message: BusMessage): object {
  if (message.type !== 'passwordChanged') return message;
  const { sessionsFrom: _, ...rest } = message;
  return rest;
}

it('no mutation publishes a private column of a user or of an API key', async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const bus = createMemoryBus();
  const published: BusMessage[] = [];
  const publish = (message: BusMessage) => {
    published.push(structuredClone(message));
    bus.publish(message);
  };
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` }, { bus: { ...bus, publish } });
  const people = { ada: await postroom.signUp('Ada'), bob: await postroom.signUp('Bob') };
  withDatabase(file, (database) =>
    database.exec(
      `update users set "role" = 'ADMIN', "oauthIssuer" = 'https://issuer.example', "oauthSubject" = 'the subject ' || id`,
    ),
  );
  const ask = (by: 'ada' | 'bob', call: string) => postroom.ask(`mutation { ${call} }`, {}, people[by].token);
  const room = await postroom.createRoom(people.ada, 'hall');
  const prepared = await ask(
    'ada',
    `post: createPost(input: { room: "${room}", title: "t" }) { post { id } }
     draft: createPost(input: { room: "${room}", title: "t", publish: false }) { post { id } }
     key: createApiKey(input: { name: "app", scopes: [READ] }) { apiKey { id } }
     invited: createInvitation(input: { room: "${room}" }) { invitation { id } }`,
  );
  await ProtocolSocket.open(postroom.webSocketUrl);
  const { connections } = await postroom.ask('{ connections { nodes { id } } }', {}, people.ada.token);
  const connection: string = connections.nodes[0].id;
  const { post, draft, key, invited } = prepared;
  const link = (await run(['sign-in-link', people.ada.email], { DATABASE_URL: `sqlite:${file}` })).stdout.trim();
  const made = { post: post.post.id, draft: draft.post.id, key: key.apiKey.id, invitation: invited.invitation.id };
  const ids = { ...people, ...made, link, connection, room };
  const texts = new Set<string>();
  const names = new Set<string>();
  const remember = () => {
    const hidden = readPrivate(file);
    for (const text of hidden.texts) texts.add(text);
    for (const name of hidden.names) names.add(name);
  };
  const notPublishing: string[] = [];
  for (const [name, create] of Object.entries(calls)) {
    remember();
    const before = published.length;
    const { by, call } = create(ids);
    const { changePassword, signInWithLink = changePassword } = await ask(by, call);
    if (signInWithLink) people[by].token = signInWithLink.accessToken;
    if (published.length === before) notPublishing.push(name);
    remember();
  }
  const schema = buildSchema(readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8'));
  expect(Object.keys(schema.getMutationType()?.getFields() ?? {}).sort()).toEqual(Object.keys(calls).sort());
  expect(notPublishing).toEqual(silent);
  expect([...new Set(published.map(({ type }) => type))].sort()).toEqual(Object.keys(kinds).sort());
  expect([...texts]).toEqual(expect.arrayContaining([people.ada.email, 'https://issuer.example']));
  expect([...names]).toEqual(expect.arrayContaining(['email', 'passwordHash', 'keptSession', 'hash']));
  expect(published.flatMap((message) => ('event' in message ? (message.event.content ?? []) : []))).toContainEqual(
    expect.objectContaining({ author: expect.objectContaining({ name: 'Ada' }) }),
  );
  for (const message of published.map(withoutSessions)) {
    const text = JSON.stringify(message);
    expect([...texts].filter((one) => text.includes(one))).toEqual([]);
    expect(namesIn(message).filter((name) => names.has(name))).toEqual([]);
  }
});

it('the compiler refuses the whole row of a user as the author of an event', () => {
  expectTypeOf<UserRow>().not.toExtend<EventContent['author']>();
  expectTypeOf<Pick<UserRow, (typeof publicUserColumns)[number]>>().toExtend<EventContent['author']>();
});
