import { once } from 'node:events';
import { connect } from 'node:net';
import type { Attack } from '../attack.ts';
import type { Server } from '../server.ts';
import { until } from '../waiting.ts';

/** Sends the head unchanged and returns the status; undefined when there is no answer within two seconds. */
async function statusOf(server: Server, head: readonly string[]): Promise<number | undefined> {
  const connection = connect(server.port, '127.0.0.1').on('error', () => {});
  await once(connection, 'connect');
  let text = '';
  connection.on('data', (bytes) => {
    text += String(bytes);
  });
  connection.write(`${head.join('\r\n')}\r\n\r\n`);
  await until(2_000, () => text.includes('\r\n') || connection.closed);
  connection.destroy();
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  return status === undefined ? undefined : Number(status);
}

const query = 'GET /graphql?query=%7B__typename%7D';
const upgrade = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: graphql-transport-ws',
];

const foreignHosts: Attack = {
  name: 'foreign-hosts',
  promise: 'A server on a loopback address answers foreign hosts with 421, on every path and for WebSockets.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const foreign = [
      'evil.example',
      `evil.example:${server.port}`,
      `localhost.evil.example:${server.port}`,
      '127.0.0.1.evil.example',
    ];
    const requests: [string, string[]][] = [
      ...foreign.map((host): [string, string[]] => [host, [`${query} HTTP/1.1`, `Host: ${host}`]]),
      ['/metrics', ['GET /metrics HTTP/1.1', `Host: ${foreign[1]}`]],
      ['an absolute target', [`GET http://evil.example/graphql?query=%7B__typename%7D HTTP/1.1`, 'Host: evil.example']],
      [
        'an absolute target and a local Host',
        [`GET http://evil.example/graphql?query=%7B__typename%7D HTTP/1.1`, `Host: localhost:${server.port}`],
      ],
      ['a WebSocket', ['GET /graphql HTTP/1.1', `Host: ${foreign[1]}`, ...upgrade]],
    ];
    for (const [what, head] of requests) {
      const status = await statusOf(server, head);
      findings.expect(status === 421, `${what}: ${status ?? 'no answer'}`);
    }
  },
};

const ownHosts: Attack = {
  name: 'own-hosts',
  promise: 'A server on a loopback address accepts the local host names.',
  async run(sandbox, findings) {
    const server = await sandbox.start();
    const { port } = server;
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`, 'localhost']) {
      const status = await statusOf(server, [`${query} HTTP/1.1`, `Host: ${host}`]);
      findings.expect(status === 200, `${host}: ${status ?? 'no answer'}`);
    }
    const status = await statusOf(server, ['GET /graphql HTTP/1.1', `Host: localhost:${port}`, ...upgrade]);
    findings.expect(status === 101, `a WebSocket: ${status ?? 'no answer'}`);
  },
};

const publicUrl: Attack = {
  name: 'public-host',
  promise: 'With PUBLIC_URL the server accepts its public host name.',
  async run(sandbox, findings) {
    const server = await sandbox.start({ settings: { PUBLIC_URL: 'https://posts.example.org' } });
    const status = await statusOf(server, [`${query} HTTP/1.1`, 'Host: posts.example.org']);
    findings.expect(status === 200, `posts.example.org: ${status ?? 'no answer'}`);
  },
};

export const rebindingAttacks: readonly Attack[] = [foreignHosts, ownHosts, publicUrl];
