import { createClient } from 'graphql-ws';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { exchange, get, RawConnection } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { advanceTime, launchWithVirtualClock } from '../support/server/virtual-timers.ts';

const query = '{ viewer { id } }';

it('exactly the limit is allowed in a burst, and a request after Retry-After is allowed', async () => {
  const postroom = await launchWithVirtualClock({ RATE_LIMIT: '20', RATE_WINDOW_SECONDS: '30' });
  const replies = await Promise.all(Array.from({ length: 50 }, () => postroom.send(query)));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
  const refused = replies.find(({ status }) => status === 429);
  expect(refused).toMatchObject({ code: 'RATE_LIMITED' });
  expect(refused?.errors?.[0]?.extensions).toHaveProperty('retryAfterMs', expect.any(Number));
  const retryAfter = refused?.headers.get('retry-after') ?? '';
  expect(retryAfter).toMatch(/^[1-9]\d*$/);
  expect(Number(retryAfter)).toBeLessThanOrEqual(30);
  advanceTime(Number(retryAfter) * 1_000 - 1);
  expect(await postroom.send(query)).toMatchObject({ status: 429 });
  advanceTime(1);
  expect(await postroom.send(query)).toMatchObject({ status: 200 });
});

it('every answer contains the remaining rate', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '5' });
  await postroom.send(query);
  const { headers } = await postroom.send(query);
  expect(headers.get('ratelimit-policy')).toBe('"default";q=5;w=60');
  expect(headers.get('ratelimit')).toMatch(/^"default";r=3;t=\d+$/);
});

it('each user has a rate of their own, whatever their address', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '3' });
  const ada = await postroom.signUp('Ada');
  const replies = await Promise.all(Array.from({ length: 3 }, () => postroom.send(query, {}, ada.token)));
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await postroom.send(query, {}, ada.token)).toMatchObject({ status: 429 });
  expect(await postroom.send(query)).toMatchObject({ status: 200 });
});

it('a forged address in X-Forwarded-For has no effect; behind a trusted proxy the address that the proxy saw counts', async () => {
  const forge = async (settings: Record<string, string>) => {
    const postroom = await launchForTest({ RATE_LIMIT: '2', ...settings });
    const statuses = [];
    for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.3']) {
      const { status } = await fetch(`${postroom.graphqlUrl}?query={viewer{id}}`, {
        headers: { 'x-forwarded-for': `198.51.100.7, ${address}` },
      });
      statuses.push(status);
    }
    return statuses;
  };
  expect(await forge({})).toEqual([200, 200, 429]);
  expect(await forge({ TRUST_PROXY: '1' })).toEqual([200, 200, 200]);
  expect(await forge({ TRUST_PROXY: '2' })).toEqual([200, 200, 429]);
});

it('the port that a trusted proxy adds to an address has no effect', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '2', TRUST_PROXY: '1' });
  const ask = async (address: string) => {
    const headers = { 'x-forwarded-for': `198.51.100.7, ${address}` };
    return (await fetch(`${postroom.graphqlUrl}?query={viewer{id}}`, { headers })).status;
  };
  for (const one of [
    ['192.0.2.1:5678', '192.0.2.1', '192.0.2.1:443'],
    ['[2001:db8::1]:443', '2001:db8::1', '[2001:db8::1]'],
    ['[::ffff:192.0.2.2]:443', '192.0.2.2:80', '::ffff:192.0.2.2'],
  ]) {
    const statuses = [];
    for (const address of one) statuses.push(await ask(address));
    expect([one, statuses]).toEqual([one, [200, 200, 429]]);
  }
  expect(await ask('[2001:db8:0:1::1]:443')).toBe(200);
  expect(await ask('192.0.2.3:5678')).toBe(200);
});

it('an address that looks like the id of a user is not treated as one', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '2', TRUST_PROXY: '1' });
  const ada = await postroom.signUp('Ada');
  for (const address of [`user ${ada.id}`, ada.id]) {
    for (let sent = 0; sent < 3; sent += 1) {
      await fetch(`${postroom.graphqlUrl}?query={viewer{id}}`, { headers: { 'x-forwarded-for': address } });
    }
  }
  expect(await postroom.send(query, {}, ada.token)).toMatchObject({ status: 200 });
});

it('over a WebSocket the same rate ends an operation with an error, and the socket stays open', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '2' });
  const client = createClient({ url: postroom.webSocketUrl, webSocketImpl: WebSocket, lazy: false });
  const ask = () =>
    new Promise((resolve) => {
      client.subscribe({ query }, { next: resolve, error: resolve, complete: () => {} });
    });
  expect(await postroom.send(query)).toMatchObject({ status: 200 });
  expect(await ask()).toEqual({ data: { viewer: null } });
  const refused = [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }];
  expect(await ask()).toMatchObject(refused);
  expect(await ask()).toMatchObject(refused);
  await client.dispose();
});

it('an address that keeps sending invalid documents must wait before it sends another new document; cached documents and other addresses are not affected', async () => {
  const postroom = await launchWithVirtualClock({ RATE_LIMIT: '100', TRUST_PROXY: '1' });
  const send = (document: string, address = '192.0.2.1') => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': address };
    return fetch(postroom.graphqlUrl, { method: 'POST', headers, body: JSON.stringify({ query: document }) });
  };
  expect((await send(query)).status).toBe(200);
  const statuses: number[] = [];
  let last: Response | undefined;
  for (let index = 0; index < 12; index += 1) {
    last = await send(`{ nothing${index} }`);
    statuses.push(last.status);
  }
  expect(statuses).toEqual([...Array(11).fill(422), 429]);
  expect(last?.headers.get('retry-after')).toBe('1');
  // It would name another time.
  expect(last?.headers.has('ratelimit')).toBe(false);
  expect(await last?.json()).toMatchObject({
    errors: [{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }],
  });
  expect((await send(query)).status).toBe(200);
  expect((await send('{ nothing0 }')).status).toBe(422);
  expect((await send('{ viewer { name } }', '192.0.2.2')).status).toBe(200);
  expect((await send('{ viewer { email } }')).status).toBe(429);
  advanceTime(500);
  expect((await send('{ viewer { email } }')).status).toBe(200);
});

it('a request that is not JSON, or not a GraphQL request, is charged to its caller', async () => {
  const postroom = await launchForTest({ RATE_LIMIT: '4' });
  const ada = await postroom.signUp('Ada');
  const send = async (body: string, headers = {}) => {
    const question = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    return (await exchange(postroom, question)).status;
  };
  const authorization = `Bearer ${ada.token}`;
  const ofAda = [
    await send('{', { authorization }),
    await send('[]', { authorization, 'last-event-id': 'x' }),
    (await get(postroom, { query, variables: '{' }, { authorization })).status,
    (await get(postroom, {}, { authorization })).status,
    await send('{', { authorization }),
    await send('{', { authorization, 'last-event-id': 'x' }),
    (await postroom.send(query, {}, ada.token)).status,
  ];
  expect(ofAda).toEqual([400, 422, 400, 422, 429, 429, 429]);
  // One operation of the address was the sign-up.
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const extensions = { persistedQuery: 'invalid' };
  const codes: string[] = [];
  for (let id = 1; id <= 5; id += 1) {
    socket.send({ type: 'subscribe', id: `${id}`, payload: { query, extensions } });
    const { payload } = await socket.take(({ type }) => type === 'error');
    codes.push(payload[0].extensions.code);
  }
  expect(codes).toEqual([...Array(3).fill('INVALID_REQUEST'), 'RATE_LIMITED', 'RATE_LIMITED']);
});

describe('a body of more than 16 KiB', () => {
  const body = JSON.stringify({ query, padding: 'x'.repeat(20_000) });
  const headOf = (...fields: string[]) =>
    `${['POST /graphql HTTP/1.1', 'Host: localhost', 'Content-Type: application/json', ...fields].join('\r\n')}\r\n\r\n`;
  const length = `Content-Length: ${body.length}`;

  it('of a caller that is over the rate is refused before it is received, and the connection stays usable', async () => {
    const postroom = await launchForTest({ RATE_LIMIT: '3' });
    const ada = await postroom.signUp('Ada');
    const authorization = `Authorization: Bearer ${ada.token}`;
    for (const token of [ada.token, undefined]) {
      while ((await postroom.send(query, {}, token)).status !== 429);
    }
    const refused = { status: 429, code: 'RATE_LIMITED', headers: { 'retry-after': expect.any(String) } };
    for (const fields of [[length], [length, authorization], [length, 'Last-Event-ID: x']]) {
      const connection = await RawConnection.open(postroom);
      connection.send(headOf(...fields));
      expect(await connection.receive()).toMatchObject(refused);
      connection.send(`${body}GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      expect(await connection.receive()).toMatchObject({ status: 200 });
    }
    for (const fields of [['Transfer-Encoding: chunked'], [length, 'Expect: 100-continue']]) {
      const connection = await RawConnection.open(postroom);
      connection.send(headOf(...fields));
      expect(await connection.receive()).toMatchObject({ ...refused, headers: { connection: 'close' } });
    }
  });

  it('is answered within the rate, and charged once', async () => {
    const postroom = await launchForTest({ RATE_LIMIT: '3' });
    const ada = await postroom.signUp('Ada');
    const remaining: (string | undefined)[] = [];
    for (const fields of [[length], [length, `Authorization: Bearer ${ada.token}`]]) {
      const connection = await RawConnection.open(postroom);
      connection.send(headOf(...fields) + body);
      const { status, headers } = await connection.receive();
      expect(status).toBe(200);
      remaining.push(headers['ratelimit']?.toString().slice(0, '"default";r=1'.length));
    }
    expect(remaining).toEqual(['"default";r=1', '"default";r=2']);
  });

  it('whose credentials are revoked while it arrives is refused', async () => {
    const postroom = await launchForTest();
    const ada = await postroom.signUp('Ada');
    const connection = await RawConnection.open(postroom);
    connection.send(headOf(length, `Authorization: Bearer ${ada.token}`, 'Expect: 100-continue'));
    expect(await connection.receive()).toMatchObject({ status: 100 });
    await postroom.ask(
      'mutation ($input: DeleteUserInput!) { deleteUser(input: $input) { user { id } } }',
      { input: { id: ada.id } },
      ada.token,
    );
    connection.send(body);
    expect(await connection.receive()).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });

  it('of a client that leaves before it has arrived runs nothing', async () => {
    const postroom = await launchForTest({ RATE_LIMIT: '1' });
    for (const sent of [headOf(length), headOf(length) + body.slice(0, 100), headOf('Transfer-Encoding: chunked')]) {
      const connection = await RawConnection.open(postroom);
      connection.send(sent);
      // The server reads what was sent before it answers a later request over another connection.
      await exchange(postroom, { path: '/health' });
      connection.leave();
      await exchange(postroom, { path: '/health' });
    }
    expect(await postroom.send(query)).toMatchObject({ status: 200 });
  });
});
