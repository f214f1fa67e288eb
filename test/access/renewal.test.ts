import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { untilCounts } from '../support/engine/metrics.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { audience, openIssuer } from '../support/identity/issuer.ts';
import { TokenMaker } from '../support/identity/tokens.ts';
import { grantAdmin, launchForTest, scratchFolder } from '../support/server/postroom.ts';
import { advanceTime, launchWithVirtualClock } from '../support/server/virtual-timers.ts';

/* After a socket has renewed its credentials, the subscriptions that the new credentials allow continue. */

const events = (room: string) => `subscription { roomEvents(room: "${room}") { __typename } }`;

/**
 * Starts a server with an admin, and with a public and a private room of another user. `tokenOf` signs a token with the
 * given scopes; by default the token is for the admin.
 */
async function launchAdmin() {
  const issuer = await openIssuer();
  onTestFinished(() => issuer.close());
  const settings = {
    DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`,
    OAUTH_ISSUER: issuer.issuer,
    OAUTH_AUDIENCE: audience,
  };
  const postroom = await launchForTest(settings);
  const tokenOf = async (scope: string, sub = 'ada') => `Bearer ${await issuer.sign({ sub, scope })}`;
  const all = await tokenOf('read write admin');
  const { id } = (await sendAs(postroom, all)).data.viewer;
  const named = `mutation { updateUser(input: { id: "${id}", email: "ada@example.org" }) { user { email } } }`;
  expect((await sendAs(postroom, all, named)).status).toBe(200);
  await grantAdmin(settings, { email: 'ada@example.org' });
  const bob = await postroom.signUp('Bob');
  const hall = await postroom.createRoom(bob, 'hall');
  const create = 'mutation { createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } } }';
  const den: string = (await postroom.ask(create, {}, bob.token)).createRoom.room.id;
  return { postroom, tokenOf, bob, hall, den };
}

async function renew(socket: ProtocolSocket, authorization: string): Promise<void> {
  socket.send({ type: 'ping', payload: { authorization } });
  await socket.take(({ type }) => type === 'pong');
}

const lack = (scope: string) => ({ type: 'error', payload: [{ extensions: { code: 'FORBIDDEN', scope } }] });

it('a renewal without READ ends every subscription with FORBIDDEN, and the socket stays open', async () => {
  const { postroom, tokenOf, bob, hall } = await launchAdmin();
  const authorization = await tokenOf('read', 'eve');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  const ids = ['a', 'b'];
  for (const id of ids) await socket.follow(id, events(hall));
  socket.send({ type: 'ping', payload: { authorization: await tokenOf('write', 'eve') } });
  for (const id of ids)
    expect(await socket.take(({ type }) => type === 'error')).toMatchObject({ id, ...lack('READ') });
  await postroom.createPost(bob, hall, 'unheard');
  await socket.settle();
  for (const id of ids) expect(socket.nexts(id)).toEqual([]);
  socket.subscribe('q', '{ viewer { id } }');
  expect(await socket.take(({ id }) => id === 'q')).toMatchObject(lack('READ'));
  await renew(socket, await tokenOf('read', 'eve'));
  await socket.follow('a', events(hall));
});

it('a renewal without ADMIN ends the subscriptions of an admin with FORBIDDEN, whichever right made them visible', async () => {
  const { postroom, tokenOf, bob, den } = await launchAdmin();
  const authorization = await tokenOf('read admin');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  await socket.follow('den', events(den));
  socket.send({ type: 'ping', payload: { authorization: await tokenOf('read') } });
  expect(await socket.take(({ type }) => type === 'error')).toMatchObject({ id: 'den', ...lack('ADMIN') });
  await postroom.createPost(bob, den, 'unheard');
  socket.subscribe('again', events(den));
  expect(await socket.take(({ id }) => id === 'again')).toMatchObject({
    payload: [{ extensions: { code: 'NOT_FOUND' } }],
  });
  await socket.settle();
  expect(socket.nexts('den')).toEqual([]);
});

it('a renewal without ADMIN ends the streams of the state of the server with FORBIDDEN', async () => {
  const { postroom, tokenOf } = await launchAdmin();
  const authorization = await tokenOf('read admin');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  await socket.subscribe('s', 'subscription { serverStatusChanged { time } }').results.next();
  await renew(socket, await tokenOf('read write admin'));
  const before = socket.nexts('s').length;
  await expect.poll(() => socket.nexts('s').length).toBeGreaterThan(before);
  socket.send({ type: 'ping', payload: { authorization: await tokenOf('read write') } });
  expect(await socket.take(({ type }) => type === 'error')).toMatchObject({ id: 's', ...lack('ADMIN') });
});

it('after a renewal with the same or more rights, all subscriptions continue', async () => {
  const { postroom, tokenOf, bob, hall } = await launchAdmin();
  const authorization = await tokenOf('read');
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  await socket.follow('a', events(hall));
  for (const scope of ['read', 'read write', 'read write admin', 'read']) await renew(socket, await tokenOf(scope));
  await postroom.createPost(bob, hall, 'heard');
  expect(await socket.take(({ type }) => type === 'next')).toMatchObject({ id: 'a' });
  expect(socket.received.filter(({ type }) => type === 'error')).toEqual([]);
});

it('a subscription sent in the same packet as the renewal is checked against the new credentials', async () => {
  const { postroom, tokenOf, bob, den } = await launchAdmin();
  const [full, less] = [await tokenOf('read admin'), await tokenOf('read')];
  for (let round = 0; round < 20; round += 1) {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: full } });
    const renewal = { type: 'ping', payload: { authorization: less } };
    const subscription = { type: 'subscribe', id: 's', payload: { query: events(den) } };
    socket.send(...(round % 2 ? [subscription, renewal] : [renewal, subscription]));
    const { payload } = await socket.take(({ type, id }) => type === 'error' && id === 's');
    expect(['FORBIDDEN', 'NOT_FOUND']).toContain(payload[0].extensions.code);
    await postroom.createPost(bob, den, 'unheard');
    await socket.settle();
    expect(socket.nexts('s')).toEqual([]);
  }
});

it.each([
  ['without credentials', undefined],
  ['of an admin', 'read write admin'],
])('a renewal that is refused closes a socket %s with 4403, and the events that wait for the client are not sent', async (_, scope) => {
  const { postroom, tokenOf, bob, hall } = await launchAdmin();
  const init = { authorization: scope && (await tokenOf(scope)) };
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  await socket.follow('e', `subscription { roomEvents(room: "${hall}") { ... on PostCreated { post { body } } } }`);
  socket.rawSocket.pause();
  // More than the buffers of the sockets hold.
  const count = 200;
  await makePosts(postroom, { author: bob, room: hall, count, bytes: 80_000, letter: '😀' });
  socket.send({ type: 'ping', payload: { authorization: 'Bearer nonsense' } });
  await untilCounts(postroom, { subscribers: 0 });
  await postroom.createPost(bob, hall, 'unheard');
  socket.rawSocket.resume();
  expect((await socket.closed).code).toBe(4403);
  expect(socket.nexts('e').length).toBeLessThan(count);
});

it('a socket is notified one minute before its credentials expire, not earlier', async () => {
  const maker = new TokenMaker();
  // The socket answers no ping while time passes at once.
  const postroom = await launchWithVirtualClock({ SESSION_KEY: maker.sessionKey, STALL_SECONDS: '600' });
  const { id } = await postroom.signUp('Ada');
  const token = await maker.sign(id, 120);
  const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${token}` } });
  advanceTime((exp - 60) * 1_000 - Date.now() - 1);
  await socket.settle();
  expect(socket.received.filter(({ type }) => type === 'ping')).toEqual([]);
  advanceTime(1);
  const { payload } = await socket.take(({ type }) => type === 'ping');
  expect(payload).toEqual({ expiresAt: new Date(exp * 1_000).toISOString() });
});
