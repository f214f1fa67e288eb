import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, run } from '../support/server/postroom.ts';
import {
  createKey,
  createPrivateRoom,
  eventsOf,
  follow,
  lastErrorCodeOf,
  launchStreamFixture,
  outcomeOf,
  type StreamFixture,
  signIn,
} from '../support/server/stream-fixture.ts';

/* Servers and commands that share a database, without a bus: a server detects the changes of the others. */

interface Change {
  mutation: (world: StreamFixture, key: { id: string }) => string;
  by: (world: StreamFixture) => string | Promise<string>;
  /** The credentials of the subscriber. */
  as: 'application' | 'person';
  /**
   * Whether the subscriber is not a member of the room. A deleted account also loses its memberships, which could end
   * the subscription first.
   */
  isOutside?: boolean;
  /** The close code or error code over WebSocket, and the error code over SSE. */
  told: [socket: number | string, stream: string];
}

const changes: Record<string, Change> = {
  'a key that is revoked': {
    mutation: (_, { id }) => `revokeApiKey(input: { id: "${id}" }) { apiKey { id } }`,
    by: ({ ada }) => ada.token,
    as: 'application',
    told: [4403, 'UNAUTHENTICATED'],
  },
  'a password that is changed': {
    mutation: ({ ada: { password } }) =>
      `changePassword(input: { currentPassword: "${password}", newPassword: "a new horse" }) { user { id } }`,
    by: ({ postroom, ada }) => signIn(postroom, ada),
    as: 'person',
    told: [4403, 'UNAUTHENTICATED'],
  },
  'an account that is deleted': {
    mutation: ({ ada }) => `deleteUser(input: { id: "${ada.id}" }) { user { id } }`,
    by: ({ owner }) => owner.token,
    as: 'person',
    isOutside: true,
    told: [4403, 'UNAUTHENTICATED'],
  },
  'a member who is taken out': {
    mutation: ({ room, ada }) => `removeRoomMember(input: { room: "${room}", user: "${ada.id}" }) { room { id } }`,
    by: ({ owner }) => owner.token,
    as: 'person',
    told: ['MEMBERSHIP_REVOKED', 'MEMBERSHIP_REVOKED'],
  },
  'a room that is deleted': {
    mutation: ({ room }) => `deleteRoom(input: { id: "${room}" }) { room { id } }`,
    by: ({ owner }) => owner.token,
    as: 'person',
    told: ['ROOM_DELETED', 'ROOM_DELETED'],
  },
};

const named = Object.entries(changes).map(([name, change]) => ({ name, ...change }));

it.for(named)('a change made by another process ends the streams of this process: $name', async (change, {
  annotate,
}) => {
  const world = await launchStreamFixture();
  const { settings, postroom, ada } = world;
  const here = await launchForTest(settings);
  const key = await createKey(world);
  const room = change.isOutside
    ? await postroom.createRoom(world.owner, 'yard')
    : await createPrivateRoom(world, [ada.id, key.userId]);
  const authorization = change.as === 'application' ? `ApiKey ${key.key}` : `Bearer ${ada.token}`;
  const { sockets, streams } = await follow(here, room, authorization);
  const by = await change.by(world);
  await postroom.ask(`mutation { ${change.mutation({ ...world, room }, key)} }`, {}, by);
  const done = Date.now();
  const [onSocket, onStream] = change.told;
  for (const socket of sockets) expect(await outcomeOf(socket)).toBe(onSocket);
  for (const stream of streams) expect(await lastErrorCodeOf(stream)).toBe(onStream);
  await annotate(`ended ${Date.now() - done} ms behind`);
  for (const socket of sockets) expect(socket.nexts('e')).toEqual([]);
  for (const stream of streams) expect(eventsOf(stream)).toEqual([]);
});

it('a stream that is visible only because its viewer is an admin ends when the operator revokes the role', async ({
  annotate,
}) => {
  const world = await launchStreamFixture();
  const { settings, postroom, ada, owner } = world;
  expect((await run(['grant-admin', ada.id], settings)).stdout).toContain(`Ada (${ada.id}) is an admin.\n`);
  const privateRoom = await createPrivateRoom(world, []);
  // The viewer of Ada's first token may still be cached without the admin role; a new token has no cached viewer.
  const authorization = `Bearer ${await signIn(postroom, ada)}`;
  const { sockets, streams } = await follow(postroom, privateRoom, authorization);
  await postroom.createPost(owner, privateRoom, 'seen');
  for (const socket of sockets) await socket.take(({ type }) => type === 'next');
  for (const stream of streams) await stream.take(({ data }) => data?.data);
  expect((await run(['revoke-admin', ada.email], settings)).stdout).toBe(`Ada (${ada.id}) is no longer an admin.\n`);
  const done = Date.now();
  for (const socket of sockets) expect(await outcomeOf(socket)).toBe(4403);
  for (const stream of streams) expect(await lastErrorCodeOf(stream)).toBe('UNAUTHENTICATED');
  await annotate(`ended ${Date.now() - done} ms behind the command's end`);
  await postroom.createPost(owner, privateRoom, 'unseen');
  for (const socket of sockets) expect(socket.nexts('e')).toHaveLength(1);
  for (const stream of streams) expect(eventsOf(stream)).toHaveLength(1);
  // A client that reconnects has its current rights.
  const again = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  again.subscribe('privateRoom', `subscription { roomEvents(room: "${privateRoom}") { __typename } }`);
  expect(await again.take(({ id }) => id === 'privateRoom')).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'NOT_FOUND' } }],
  });
  await again.follow('hall', `subscription { roomEvents(room: "${world.room}") { __typename } }`);
});

it('grant-admin describes the account of an e-mail address, which is not verified, and requires its id or --yes', async () => {
  const { settings, postroom, ada } = await launchStreamFixture();
  const described = new RegExp(`^Ada \\(${ada.id}\\): created at 20\\d\\d-\\S+Z; age in days: 0; posts: 0\\n`);
  const roleOfAda = async () => (await postroom.ask(`{ user(id: "${ada.id}") { role } }`)).user.role;
  const asked = await run(['grant-admin', ada.email], settings);
  expect(asked).toMatchObject({ status: 1, stdout: expect.stringMatching(described) });
  expect(asked.stderr).toContain('add --yes');
  expect(await roleOfAda()).toBe('MEMBER');
  for (const args of [[ada.email, '--yes'], [ada.id]]) {
    const { status, stdout } = await run(['grant-admin', ...args], settings);
    expect({ status, stdout }).toMatchObject({ status: 0, stdout: expect.stringMatching(described) });
    expect(await roleOfAda()).toBe('ADMIN');
    expect((await run(['revoke-admin', ...args.slice(0, 1)], settings)).status).toBe(0);
    expect(await roleOfAda()).toBe('MEMBER');
  }
  const unknown = await run(['grant-admin', 'u00000000000000000000000000'], settings);
  expect(unknown).toMatchObject({ status: 1, stdout: '' });
  expect(unknown.stderr).toBe('postroom: there is no account with the id u00000000000000000000000000\n');
});

it('when the operator revokes the admin role, the keys with ADMIN that depend on it are revoked, and no other key', async () => {
  const { settings, postroom, ada, owner } = await launchStreamFixture();
  await run(['grant-admin', ada.email, '--yes'], settings);
  const authorization = `Bearer ${await signIn(postroom, ada)}`;
  const make = (scope: string) => `createApiKey(input: { name: "k", scopes: [${scope}] }) { key }`;
  const ask = async (query: string, headers: Record<string, string>) => {
    const body = JSON.stringify({ query });
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const response = await fetch(`${postroom.url}/graphql`, init);
    return { status: response.status, ...((await response.json()) as { data?: Record<string, { key: string }> }) };
  };
  const { data } = await ask(`mutation { admin: ${make('READ ADMIN')} other: ${make('READ')} }`, { authorization });
  const strangersEmail = (key = '') => ask(`{ user(id: "${owner.id}") { email } }`, { authorization: `ApiKey ${key}` });
  expect(await strangersEmail(data?.['admin']?.key)).toMatchObject({ data: { user: { email: owner.email } } });
  await run(['revoke-admin', ada.email], settings);
  await expect.poll(async () => (await strangersEmail(data?.['admin']?.key)).status).toBe(401);
  expect(await strangersEmail(data?.['other']?.key)).toMatchObject({ data: { user: { email: null } } });
});

it('a key and a role that the command line creates are valid at once in a running server', async () => {
  const { settings, postroom, ada, room } = await launchStreamFixture();
  const args = ['key', 'create', '--name', 'operator', '--scopes', 'read', '--owner', ada.email.toUpperCase()];
  const made = await run(args, settings);
  expect(made).toMatchObject({ status: 0, stdout: expect.stringMatching(/^pr_live_\w{34}\n$/) });
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, {
    init: { authorization: `ApiKey ${made.stdout.trim()}` },
  });
  await socket.follow('e', `subscription { roomEvents(room: "${room}") { __typename } }`);
  // The owner of the key can list it and revoke it.
  const { viewer } = await postroom.ask('{ viewer { apiKeys { id name scopes } } }', {}, ada.token);
  expect(viewer.apiKeys).toEqual([{ id: expect.anything(), name: 'operator', scopes: ['READ'] }]);
  const revoke = `mutation { revokeApiKey(input: { id: "${viewer.apiKeys[0].id}" }) { apiKey { id } } }`;
  await postroom.ask(revoke, {}, ada.token);
  expect((await socket.closed).code).toBe(4403);
});
