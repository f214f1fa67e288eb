import { expect, it } from 'vitest';
import { exchange, handshake, RawConnection } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';

const request = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const lastRequest = 'GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
const mutation = JSON.stringify({
  query:
    'mutation { signUp(input: { name: "Ada", email: "ada@example.org", password: "correct horse" }) { user { id } } }',
});
const post = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${mutation.length}\r\n\r\n${mutation}`;

it('an address may hold a maximum of connections; nothing runs over one more, and a connection that closes makes way for another', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '3' });
  const held = await Promise.all([1, 2, 3].map(() => RawConnection.open(postroom)));
  for (const connection of held) {
    connection.send(request);
    expect((await connection.receive()).status).toBe(200);
  }
  const oneTooMany = await RawConnection.open(postroom);
  oneTooMany.send(post);
  const refused = await oneTooMany.receive();
  expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } });
  for (const connection of held) connection.leave();
  await expect.poll(async () => (await exchange(postroom, { path: '/health' })).status).toBe(200);
  // If the refused request had run, the e-mail address would be in use, and this sign-up would be refused.
  expect((await postroom.send(JSON.parse(mutation).query)).data).toMatchObject({ signUp: { user: {} } });
});

it('a connection may have ten requests that wait for answers at any time; one more closes it', async () => {
  const postroom = await launchForTest();
  const [within, beyond] = [await RawConnection.open(postroom), await RawConnection.open(postroom)];
  within.send(request.repeat(10));
  for (let index = 0; index < 300; index += 1) {
    expect((await within.receive()).status).toBe(200);
    within.send(request);
  }
  for (let index = 0; index < 10; index += 1) expect((await within.receive()).status).toBe(200);
  beyond.send(request.repeat(11));
  expect((await beyond.closed()).split('HTTP/1.1 200').length).toBeLessThan(12);
  within.send(request);
  expect((await within.receive()).status).toBe(200);
});

it('WebSockets do not count as other connections of their address', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '2' });
  const sockets = await Promise.all([1, 2].map(() => ProtocolSocket.open(postroom.webSocketUrl)));
  const connections = await Promise.all([1, 2].map(() => RawConnection.open(postroom)));
  for (const connection of connections) {
    connection.send(request);
    expect((await connection.receive()).status).toBe(200);
  }
  for (const connection of connections) connection.leave();
  for (const socket of sockets) socket.webSocket.close();
});

it('behind a proxy, whose connections come from many clients, there is no limit', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '1', TRUST_PROXY: '1' });
  const connections = await Promise.all([1, 2, 3].map(() => RawConnection.open(postroom)));
  for (const connection of connections) {
    connection.send(request);
    expect((await connection.receive()).status).toBe(200);
    connection.leave();
  }
});

it('an address that repeatedly exceeds its limit is not answered for a moment; its open connections and other clients are', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '1' });
  const held = await RawConnection.open(postroom);
  held.send(request);
  expect((await held.receive()).status).toBe(200);
  const refused = { answered: 0, cutOff: 0 };
  // Only 25 refusals per second are answered. On a slow machine, a round may take longer, so several may be necessary.
  while (refused.cutOff === 0) {
    const bytes = await Promise.all(Array.from({ length: 50 }, () => askOnce(postroom)));
    refused.answered += bytes.filter((text) => text.startsWith('HTTP/1.1 503 ')).length;
    refused.cutOff += bytes.filter((text) => text === '').length;
  }
  expect(refused.answered).toBeGreaterThanOrEqual(25);
  held.send(request);
  expect((await held.receive()).status).toBe(200);
  expect(await askOnce(postroom, '127.0.0.2')).toMatch(/^HTTP\/1\.1 200 /);
  held.leave();
  await expect.poll(() => askOnce(postroom)).toMatch(/^HTTP\/1\.1 200 /);
});

it('WebSockets that are refused repeatedly do not affect other requests of their address', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '100', LOG_LEVEL: 'warn' });
  await Promise.all(Array.from({ length: 100 }, () => ProtocolSocket.open(postroom.webSocketUrl)));
  let cutOff = 0;
  while (cutOff === 0) {
    const refused = Array.from({ length: 50 }, () => askOnce(postroom, undefined, handshake));
    const [bytes, served] = await Promise.all([Promise.all(refused), askOnce(postroom)]);
    expect(served).toMatch(/^HTTP\/1\.1 200 /);
    cutOff += bytes.filter((text) => text === '').length;
  }
});

/** Everything that the server sends over a new connection; empty if the server resets the connection. */
async function askOnce(postroom: Postroom, localAddress?: string, bytes = lastRequest): Promise<string> {
  try {
    const connection = await RawConnection.open(postroom, localAddress);
    connection.send(bytes);
    return await connection.closed();
  } catch {
    return '';
  }
}
