import { expect, it, vi } from 'vitest';
import { RawConnection } from './support/http.ts';
import { launchForTest } from './support/postroom.ts';
import { ProtocolSocket } from './support/protocol-socket.ts';

const request = 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n';
const mutation = JSON.stringify({
  query:
    'mutation { signUp(input: { name: "Ada", email: "ada@example.org", password: "correct horse" }) { user { id } } }',
});
const post = `POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${mutation.length}\r\n\r\n${mutation}`;

it('an address holds so many connections and no more, nothing runs over one too many, and one that leaves makes room', async () => {
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
  await vi.waitFor(async () => {
    // Who signed up before would be refused now.
    expect((await postroom.send(JSON.parse(mutation).query)).data).toMatchObject({ signUp: { user: {} } });
  }, 10_000);
});

it('WebSockets leave the room of other connections to them', async () => {
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

it('behind a proxy, whose connections are those of many, it sets no bound', async () => {
  const postroom = await launchForTest({ LIMIT_SOCKETS: '1', TRUST_PROXY: '1' });
  const connections = await Promise.all([1, 2, 3].map(() => RawConnection.open(postroom)));
  for (const connection of connections) {
    connection.send(request);
    expect((await connection.receive()).status).toBe(200);
    connection.leave();
  }
});
