import { describe, expect, it } from 'vitest';
import { post } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { expectRevoked, follow, launchStreamFixture, signIn } from '../support/server/stream-fixture.ts';

/* A new password revokes every token that was issued before. */

/** Half of the recommended cost: hashing takes long enough that other messages arrive meanwhile. */
const passwordCost = { memory: 9_728, passes: 2 };
const newPassword = 'another horse';
const changeTo = (password: string, next = newPassword) =>
  `changePassword(input: { currentPassword: "${password}", newPassword: "${next}" }) { accessToken user { email } }`;

it('a new password revokes all earlier tokens, also that of the session which sets it; the new token is valid', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const renew = 'mutation { renewSession { accessToken } }';
  const renewed = (await postroom.ask(renew, {}, ada.token)).renewSession.accessToken;
  const earlier = [ada.token, renewed, await signIn(postroom, ada)];
  const { changePassword } = await postroom.ask(`mutation { ${changeTo(ada.password)} }`, {}, ada.token);
  const createKey = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key } }';
  for (const token of earlier) {
    for (const query of ['{ viewer { id } }', renew, createKey])
      expect(await sendAs(postroom, `Bearer ${token}`, query)).toMatchObject({ status: 401 });
    expect(await connectAs(postroom, `Bearer ${token}`)).toBe(4403);
  }
  const next = (await postroom.ask(renew, {}, changePassword.accessToken)).renewSession.accessToken;
  for (const token of [changePassword.accessToken, next]) {
    expect((await postroom.send('{ viewer { id } }', {}, token)).data).toEqual({ viewer: { id: ada.id } });
    expect(await connectAs(postroom, `Bearer ${token}`)).toBe('admitted');
  }
});

it('a new password does not revoke the API keys of the user', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const create = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key } }';
  const { key } = (await postroom.ask(create, {}, ada.token)).createApiKey;
  await postroom.ask(`mutation { ${changeTo(ada.password)} }`, {}, ada.token);
  expect((await sendAs(postroom, `ApiKey ${key}`)).status).toBe(200);
});

it('the fields after changePassword run with the new session', async () => {
  const postroom = await launchForTest();
  const ada = await postroom.signUp('Ada');
  const again = `again: ${changeTo(newPassword, 'a third horse')}`;
  const mutation = `mutation { ${changeTo(ada.password)} createRoom(input: { name: "hall" }) { room { name } } ${again} }`;
  const answer = await postroom.ask(mutation, {}, ada.token);
  expect(answer).toMatchObject({ createRoom: { room: { name: 'hall' } }, again: { user: { email: ada.email } } });
  const statuses = [ada.token, answer.changePassword.accessToken, answer.again.accessToken].map(
    async (token) => (await sendAs(postroom, `Bearer ${token}`)).status,
  );
  expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
});

it('a new password ends the streams of the session that sets it, and no later event is delivered', async () => {
  const world = await launchStreamFixture();
  const { postroom, room, ada, owner } = world;
  const theirs = await follow(postroom, room, `Bearer ${ada.token}`);
  const late = `createPost(input: { room: "${room}", title: "late" }) { post { id } }`;
  await postroom.ask(`mutation { ${changeTo(ada.password)} ${late} }`, {}, ada.token);
  await postroom.createPost(owner, room, 'later');
  await expectRevoked(theirs);
});

it('a socket that changes the password receives the new token before it is closed with 4403, and no later event', async () => {
  const { postroom, room, ada } = await launchStreamFixture({}, { passwordCost });
  const init = { authorization: `Bearer ${ada.token}` };
  const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
  const events = `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { title } } } }`;
  await socket.follow('e', events);
  const late = `createPost(input: { room: "${room}", title: "late" }) { post { id } }`;
  socket.subscribe('change', `mutation { ${changeTo(ada.password)} ${late} }`);
  socket.subscribe('after', events);
  const { payload } = await socket.take(({ id, type }) => id === 'change' && type === 'next');
  expect(payload.data.createPost).toMatchObject({ post: { id: expect.any(String) } });
  expect((await socket.closed).code).toBe(4403);
  for (const id of ['e', 'after']) {
    expect(socket.nexts(id)).toEqual([]);
    expect(socket.received.filter((message) => message.id === id)).toEqual([]);
  }
  const token = payload.data.changePassword.accessToken;
  const authorization = `Bearer ${token}`;
  const next = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } });
  await next.follow('e', events);
  await postroom.createPost({ ...ada, token }, room, 'seen');
  expect(await next.take(({ type }) => type === 'next')).toMatchObject({
    payload: { data: { roomEvents: { post: { title: 'seen' } } } },
  });
});

describe('passwords that wait to be hashed', () => {
  const account = { email: 'nobody@example.org', password: 'correct horse' };
  const query = `mutation { signIn(input: { email: "${account.email}", password: "${account.password}" }) { expiresAt } }`;
  const settings = { TRUST_PROXY: '1', LIMIT_MESSAGES: '1000', LIMIT_SUBSCRIPTIONS: '1000', LOG_LEVEL: 'info' };
  const operations = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ type: 'subscribe', id: `${index}`, payload: { query } }));

  it('are limited for each address: the others are answered with 503 and Retry-After', async () => {
    // Hashing one takes longer than receiving twenty.
    const postroom = await launchForTest(settings, { passwordCost: { memory: 65_536, passes: 3 } });
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, from('198.51.100.1'));
    socket.send(...operations(200));
    const { id } = await socket.take(({ payload }) => payload?.errors?.[0].extensions.code === 'SERVICE_UNAVAILABLE');
    // Had it waited for too long, it would be one of the first.
    expect(Number(id)).toBeGreaterThanOrEqual(100);
    const more = await Promise.all(Array.from({ length: 20 }, () => post(postroom, query, from('198.51.100.1'))));
    const refused = more.find(({ status }) => status === 503);
    expect(refused).toMatchObject({ code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } });
    expect((await post(postroom, query, from('198.51.100.2'))).status).toBe(401);
    socket.webSocket.terminate();
  });

  it('are not hashed after their clients have left', async () => {
    const postroom = await launchForTest(settings, { passwordCost });
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const sent = operations(90);
    socket.send(...sent);
    await socket.take(({ type }) => type === 'next');
    socket.send(...sent.map(({ id }) => ({ type: 'complete', id })));
    await socket.settle();
    // It would wait for all passwords of its address that were sent before it.
    expect((await postroom.send(query)).status).toBe(401);
    const verified = postroom.log.filter(({ msg }) => msg === 'signInRefused');
    expect(verified.length).toBeLessThan(sent.length / 2);
  });
});
