import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { exchange, post } from '../support/clients/http.ts';
import { launchForTest, type Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/*
 * DNS rebinding: the host name of a foreign page resolves to 127.0.0.1. The browser sends that name as Host, and a GET
 * has no foreign Origin.
 */

const foreign = [
  'evil.example',
  'evil.example:4000',
  'localhost.evil.example',
  'evil-localhost',
  '127.0.0.1.evil.example',
  '127.evil.example',
  'app.example.org',
  '192.168.0.1',
  '[2001:db8::1]',
];
const own = ['localhost', 'localhost.', 'LOCALHOST:80', 'rooms.localhost', '127.0.0.1', '127.1.2.3:8080', '[::1]:4000'];
const paths = ['/graphql?query={__typename}', '/graphql', '/', '/health', '/ready', '/metrics', '/nothing'];

async function openSocket({ webSocketUrl }: Postroom, host: string): Promise<number> {
  const webSocket = new WebSocket(webSocketUrl, ['graphql-transport-ws'], { headers: { host } });
  webSocket.on('error', () => {});
  const refused = once(webSocket, 'unexpected-response').then(([, response]) => response.statusCode as number);
  const status = await Promise.race([refused, once(webSocket, 'open').then(() => 101)]);
  webSocket.terminate();
  return status;
}

const ask = async (postroom: Postroom, host: string) =>
  (await post(postroom, '{ __typename }', { headers: { host } })).status;

describe('a server on a loopback address, without PUBLIC_URL', () => {
  const server = shareServer({ ALLOWED_ORIGINS: 'https://app.example.org' });

  it.each(foreign)('refuses the host %s on every path, and runs nothing', async (host) => {
    const { postroom } = server;
    const misdirected = { status: 421, code: 'MISDIRECTED_REQUEST' };
    for (const path of paths) expect(await exchange(postroom, { path, headers: { host } })).toMatchObject(misdirected);
    const signUp =
      'mutation { signUp(input: { name: "E", email: "e@example.org", password: "long enough" }) { expiresAt } }';
    expect(await post(postroom, signUp, { headers: { host } })).toMatchObject({ ...misdirected, data: undefined });
    const page = await exchange(postroom, { headers: { host, accept: 'text/html' } });
    expect(page).toMatchObject(misdirected);
    expect(await openSocket(postroom, host)).toBe(421);
  });

  it.each(own)('answers to the host %s', async (host) => {
    expect(await ask(server.postroom, host)).toBe(200);
    expect(await openSocket(server.postroom, host)).toBe(101);
    expect((await exchange(server.postroom, { path: '/health', headers: { host } })).status).toBe(200);
  });

  it('checks the host of each request, in any order', async () => {
    const hosts = ['localhost', 'evil.example', 'localhost', 'evil.example', '127.0.0.1', 'evil.example'];
    const statuses = [];
    for (const host of hosts) statuses.push(await ask(server.postroom, host));
    expect(statuses).toEqual([200, 421, 200, 421, 200, 421]);
  });
});

it.each([
  ['with PUBLIC_URL', { PUBLIC_URL: 'https://rooms.example.org' }],
  ['on all addresses', { HOST: '0.0.0.0' }],
])('a server %s answers to any host name: a proxy or the network decides which names lead to it', async (_, settings) => {
  const { url } = await launchForTest(settings);
  const reached = { url: url.replace('0.0.0.0', '127.0.0.1') };
  for (const host of ['rooms.example.org', 'localhost', 'backend:8080']) {
    expect((await exchange(reached, { path: '/health', headers: { host } })).status).toBe(200);
  }
});
