import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import WebSocket from 'ws';
import { readConfig } from '../../src/config/config.ts';
import { chromiumNote, hasChromium, launchBrowser, newVisitor } from '../support/clients/browser.ts';
import { exchange, get, type HttpAnswer, post, RawConnection } from '../support/clients/http.ts';
import { scratchName } from '../support/rooms/names.ts';
import { launchForTest, type Postroom, run } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const app = 'https://app.example.org';
const server = shareServer({ ALLOWED_ORIGINS: `${app}, http://other.example:8080` });

const foreign = [
  'https://evil.example',
  'null',
  // Origins are compared exactly.
  `${app}.evil.example`,
  'https://evil-app.example.org',
  'https://app.example.org:443',
  'http://app.example.org',
  'HTTPS://APP.EXAMPLE.ORG',
  'https://app.example.org/',
  'http://other.example',
  'http://localhost',
  'http://localhost:1',
  'https://localhost:4000',
  '*',
  '',
  `${app}, https://evil.example`,
];

function ownOrigins({ url }: Postroom): string[] {
  const { port } = new URL(url);
  return ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:${port}`);
}

function expectNothingAllowed(answer: HttpAnswer): void {
  expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
}

describe('a page of another origin', () => {
  it.each(foreign)('%s may not send requests: nothing runs, and there are no CORS headers', async (origin) => {
    const { postroom } = server;
    const ada = await postroom.signUp('Ada');
    const name = scratchName();
    const query = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';
    const headers = { origin, authorization: `Bearer ${ada.token}` };
    expectNothingAllowed(await post(postroom, query, { variables: { name }, headers }));
    expectNothingAllowed(await get(postroom, { query: '{ __typename }' }, { origin }));
    expectNothingAllowed(
      await get(postroom, { query: '{ __typename }' }, { origin, 'graphql-require-preflight': '1' }),
    );
    expectNothingAllowed(
      await exchange(postroom, { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } }),
    );
    const { roomByName } = await postroom.ask('query ($name: String!) { roomByName(name: $name) { id } }', { name });
    expect(roomByName).toBeNull();
  });

  it('cannot open a WebSocket either: HTTP 403', async () => {
    const { webSocketUrl } = server.postroom;
    for (const origin of foreign) {
      const webSocket = new WebSocket(webSocketUrl, ['graphql-transport-ws'], { headers: { origin } });
      webSocket.on('error', () => {});
      const [, response] = await once(webSocket, 'unexpected-response');
      expect({ origin, status: response.statusCode }).toEqual({ origin, status: 403 });
      webSocket.terminate();
    }
  });
});

describe('the log names a refused origin and ALLOWED_ORIGINS', () => {
  const refusedOrigins = ({ log }: Postroom) =>
    log.flatMap(({ level, msg, origin }) => (String(msg).includes('ALLOWED_ORIGINS') ? [{ level, origin }] : []));

  it('once in a minute, over HTTP and for WebSockets, and no allowed origin', async () => {
    const postroom = await launchForTest({ ALLOWED_ORIGINS: app });
    const [vite, other] = ['http://localhost:5173', 'http://localhost:3000'];
    const preflight = { origin: vite, 'access-control-request-method': 'POST' };
    for (let time = 0; time < 3; time += 1) await exchange(postroom, { method: 'OPTIONS', headers: preflight });
    await post(postroom, '{ __typename }', { headers: { origin: vite } });
    await post(postroom, '{ __typename }', { headers: { origin: app } });
    const webSocket = new WebSocket(postroom.webSocketUrl, ['graphql-transport-ws'], { headers: { origin: other } });
    webSocket.on('error', () => {});
    await once(webSocket, 'unexpected-response');
    webSocket.terminate();
    expect(refusedOrigins(postroom)).toEqual([
      { level: 40, origin: vite },
      { level: 40, origin: other },
    ]);
  });

  it('at most 100 of them, each shortened, and each as one line', async () => {
    const postroom = await launchForTest();
    const connection = await RawConnection.open(postroom);
    const ask = async (origin: string) => {
      connection.send(`GET /graphql?query=x HTTP/1.1\r\nhost: localhost\r\norigin: ${origin}\r\n\r\n`);
      expect(await connection.receive()).toMatchObject({ status: 403 });
    };
    await ask('x","level":60,"msg":"\u0085injected');
    await ask(`https://${'a'.repeat(8_000)}.example`);
    for (let index = 0; index < 150; index += 1) await ask(`https://${index}.example`);
    const found = refusedOrigins(postroom);
    expect(found).toHaveLength(100);
    expect(found[0]).toEqual({ level: 40, origin: expect.stringMatching(/^x","level":60,"msg":"/) });
    expect(found[1]?.origin).toHaveLength(200);
    expect(found[99]?.origin).toBe('https://97.example');
  });
});

describe('a page of an allowed origin, or the server’s own', () => {
  const allowed = () => [app, 'http://other.example:8080', ...ownOrigins(server.postroom)];

  it('may send requests and read the answers; cookies are never allowed', async () => {
    for (const origin of allowed()) {
      const answers = [
        await post(server.postroom, '{ __typename }', { headers: { origin } }),
        await post(server.postroom, '{', { headers: { origin } }),
        await get(server.postroom, { query: '{ __typename }' }, { origin, 'sec-fetch-site': 'cross-site' }),
      ];
      expect(answers.map(({ status }) => status)).toEqual([200, 400, 200]);
      for (const { headers } of answers) {
        expect(headers).toMatchObject({
          'access-control-allow-origin': origin,
          'access-control-expose-headers': expect.stringContaining('retry-after'),
          vary: expect.stringMatching(/\borigin\b/),
        });
        expect(headers).not.toHaveProperty('access-control-allow-credentials');
      }
    }
  });

  it('receives the allowed methods and headers in a preflight', async () => {
    for (const origin of allowed()) {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,x-anything',
      };
      const answer = await exchange(server.postroom, { method: 'OPTIONS', headers });
      expect(answer).toMatchObject({ status: 204, body: '' });
      expect(answer.headers).toMatchObject({
        'access-control-allow-origin': origin,
        'access-control-allow-methods': 'GET, POST',
        'access-control-allow-headers': '*, authorization',
        'access-control-max-age': '600',
        vary: 'origin',
      });
      expect(answer.headers).not.toHaveProperty('access-control-allow-credentials');
    }
  });

  it('can open a WebSocket, as can a client that is not a browser', async () => {
    for (const origin of [undefined, ...allowed()]) {
      const headers = origin === undefined ? {} : { origin };
      const webSocket = new WebSocket(server.postroom.webSocketUrl, ['graphql-transport-ws'], { headers });
      await once(webSocket, 'open');
      webSocket.terminate();
    }
  });
});

describe('a GET across sites', () => {
  const query = '{ __typename }';

  it.each([
    'cross-site',
    'same-site',
    'anything',
  ])('with Sec-Fetch-Site: %s runs only with GraphQL-Require-Preflight', async (site) => {
    for (const method of ['GET', 'HEAD']) {
      const headers = { 'sec-fetch-site': site };
      expect((await get(server.postroom, { query }, headers, method)).status).toBe(403);
      const sure = { ...headers, 'graphql-require-preflight': '1' };
      expect((await get(server.postroom, { query }, sure, method)).status).toBe(200);
    }
  });

  it.each(['same-origin', 'none'])('with Sec-Fetch-Site: %s is not cross-site', async (site) => {
    expect((await get(server.postroom, { query }, { 'sec-fetch-site': site })).status).toBe(200);
  });

  it('starts no stream either', async () => {
    const answer = await get(
      server.postroom,
      { query: 'subscription { roomEvents(room: "x") { cursor } }' },
      {
        accept: 'text/event-stream',
        'sec-fetch-site': 'cross-site',
      },
    );
    expectNothingAllowed(answer);
  });
});

describe('the origins of the server', () => {
  it('are those of PUBLIC_URL if it is set, and no others', async () => {
    const postroom = await launchForTest({ PUBLIC_URL: 'https://rooms.example.org/postroom' });
    const ask = async (origin: string) => (await post(postroom, '{ __typename }', { headers: { origin } })).status;
    expect(await ask('https://rooms.example.org')).toBe(200);
    for (const origin of ownOrigins(postroom)) expect(await ask(origin)).toBe(403);
  });

  it.each([
    ['PUBLIC_URL', 'rooms.example.org'],
    ['PUBLIC_URL', 'ftp://rooms.example.org'],
    ['PUBLIC_URL', 'https://user@rooms.example.org'],
    ['PUBLIC_URL', 'https://rooms.example.org?x'],
    ['PUBLIC_URL', 'https://'],
    ['ALLOWED_ORIGINS', '*'],
    ['ALLOWED_ORIGINS', 'null'],
    ['ALLOWED_ORIGINS', 'app.example.org'],
    ['ALLOWED_ORIGINS', 'https://app.example.org/'],
    ['ALLOWED_ORIGINS', 'https://*.example.org'],
    ['ALLOWED_ORIGINS', `${app},https://App.example.org`],
  ])('%s=%s is refused', (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be .+ \\(got ".*"\\)\\.$`));
  });

  it('stop the start with one line if they are malformed', async () => {
    const { status, stderr } = await run(['serve'], {
      ALLOWED_ORIGINS: '*',
      DATABASE_URL: 'sqlite::memory:',
      PORT: '0',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^postroom: ALLOWED_ORIGINS must be an origin, .* \(got "\*"\)\.\n$/);
  });
});

it('an invalid WebSocket handshake is refused with an error in the usual form', async () => {
  const connection = await RawConnection.open(server.postroom);
  connection.send('GET /elsewhere HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  expect(await connection.receive()).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  await connection.closed();
});

describe.skipIf(!hasChromium)(`in a browser${chromiumNote}`, () => {
  /** Serves an empty page from another origin, and returns that origin. */
  async function servePage(): Promise<string> {
    const pages = createServer((_, response) => void response.end('<!doctype html><title>page</title>')).listen(
      0,
      '127.0.0.1',
    );
    onTestFinished(() => void pages.close());
    await once(pages, 'listening');
    return `http://127.0.0.1:${(pages.address() as AddressInfo).port}`;
  }

  /** The data that a page can read with each kind of request. */
  const tryAll = async ({ graphqlUrl, token }: { graphqlUrl: string; token: string }): Promise<string[]> => {
    const read = async (init: RequestInit, url = graphqlUrl) => {
      try {
        const { data } = await (await fetch(url, init)).json();
        return Object.keys(data ?? {}).join();
      } catch {
        return 'nothing';
      }
    };
    const opened = new Promise<string>((resolve) => {
      const socket = new globalThis.WebSocket(graphqlUrl.replace('http', 'ws'), 'graphql-transport-ws');
      socket.onopen = () => resolve('open');
      socket.onerror = () => resolve('nothing');
    });
    const body = JSON.stringify({ query: '{ __typename }' });
    return [
      await read({
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body,
      }),
      await read({ method: 'POST', body }),
      await read({ headers: { 'x-anything': '1' } }, `${graphqlUrl}?query={__typename}`),
      await read({}, `${graphqlUrl}?query={__typename}`),
      await opened,
    ];
  };

  it('a page of another origin can read and change nothing; a page of an allowed origin can', async () => {
    const [friend, stranger] = [await servePage(), await servePage()];
    const postroom = await launchForTest({ ALLOWED_ORIGINS: friend });
    const { token } = await postroom.signUp('Ada');
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const visitor = await newVisitor(browser);
    const visit = async (origin: string) => {
      const page = await visitor.newPage();
      await page.goto(origin);
      return page.evaluate(tryAll, { graphqlUrl: postroom.graphqlUrl, token });
    };
    expect(await visit(stranger)).toEqual(['nothing', 'nothing', 'nothing', 'nothing', 'nothing']);
    expect(await visit(friend)).toEqual(['__typename', '', '__typename', '__typename', 'open']);
  });
});
