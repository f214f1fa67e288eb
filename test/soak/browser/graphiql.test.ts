import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { tabs } from '../../../src/transport/graphiql/tabs.ts';
import { chromiumNote, Graphiql, hasChromium, launchBrowser, newVisitor } from '../../support/clients/browser.ts';
import { requestUnchanged, type UnchangedAnswer } from '../../support/clients/http.ts';
import { launchForTest, type Postroom, scratchFolder, startInProcess } from '../../support/server/postroom.ts';

const ofBrowser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

let shared: Postroom;

beforeAll(async () => {
  shared = await startInProcess();
});

afterAll(() => shared.stop());

function get(headers: Record<string, string>, { path = '', method = 'GET', from = shared } = {}) {
  return requestUnchanged(`${from.graphqlUrl}${path}`, { method, headers });
}

/** The sources of a Content-Security-Policy by directive. */
function policyOf({ headers }: UnchangedAnswer): Map<string, string[]> {
  const directives = String(headers['content-security-policy']).split(';');
  return new Map(
    directives.map((directive) => directive.trim().split(/\s+/)).map(([name = '', ...rest]) => [name, rest]),
  );
}

describe('the page', () => {
  it('is served to a browser that sends no query; all other requests get GraphQL', async () => {
    const page = await get({ accept: ofBrowser });
    expect(page).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
    expect(String(page.body)).toContain('<title>Postroom</title>');
    const query = await get({ accept: ofBrowser }, { path: '?query={__typename}' });
    expect(query.status).toBe(200);
    expect(JSON.parse(String(query.body))).toEqual({ data: { __typename: 'Query' } });
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json', 'text/html;q=0, */*']) {
      const other = await get({ accept });
      expect({ accept, status: other.status }).toEqual({ accept, status: 422 });
      expect(JSON.parse(String(other.body)).errors[0].extensions.code).toBe('INVALID_REQUEST');
    }
  });

  it('is compressed for clients that accept gzip, and is otherwise the same', async () => {
    const plain = await get({ accept: ofBrowser });
    for (const encoding of ['gzip', 'br, GZip ; q=0.5', '*', 'deflate, *;q=0.1']) {
      const packed = await get({ accept: ofBrowser, 'accept-encoding': encoding });
      expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept, accept-encoding' });
      expect(packed.headers['content-length']).toBe(String(packed.body.length));
      expect(gunzipSync(packed.body).equals(plain.body)).toBe(true);
      expect(packed.body.length).toBeLessThan(plain.body.length / 3);
    }
    for (const encoding of ['identity', 'br', '', 'gzip;q=0', 'gzip;q=0.000, *']) {
      const same = await get({ accept: ofBrowser, 'accept-encoding': encoding });
      expect(same.headers['content-encoding']).toBeUndefined();
      expect(same.headers['content-length']).toBe(String(plain.body.length));
      expect(same.body.equals(plain.body)).toBe(true);
    }
  });

  it('is not sent again to a client that has it cached', async () => {
    const { headers } = await get({ accept: ofBrowser, 'accept-encoding': 'gzip' });
    const etag = String(headers.etag);
    expect(headers['cache-control']).toBe('no-cache');
    for (const cached of [etag, etag.replace('W/', ''), `"other", ${etag}`, '*']) {
      const again = await get({ accept: ofBrowser, 'if-none-match': cached });
      expect(again).toMatchObject({ status: 304, headers: { etag }, body: Buffer.alloc(0) });
      expect(again.headers['content-security-policy']).toBe(headers['content-security-policy']);
    }
    for (const other of ['"other"', 'W/"other"', etag.slice(0, -2)]) {
      expect(await get({ accept: ofBrowser, 'if-none-match': other })).toMatchObject({
        status: 200,
        headers: { etag },
      });
    }
  });

  it('answers HEAD without a body', async () => {
    for (const encoding of ['gzip', 'identity']) {
      const asked = { accept: ofBrowser, 'accept-encoding': encoding };
      const { headers } = await get(asked);
      const head = await get(asked, { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, body: Buffer.alloc(0) });
      expect(head.headers['content-length']).toBe(headers['content-length']);
    }
  });

  it('may run only its own scripts, send requests only to its server, and be shown in no frame', async () => {
    const page = await get({ accept: ofBrowser });
    const policy = policyOf(page);
    const scripts = [...String(page.body).matchAll(/<script>(.*?)<\/script>/gs)].map(([, script = '']) => script);
    expect(scripts.length).toBeGreaterThan(0);
    expect(Object.fromEntries(policy)).toEqual({
      'default-src': ["'none'"],
      'script-src': scripts.map((script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`),
      'style-src': ["'unsafe-inline'"],
      'font-src': ['data:'],
      'img-src': ['data:'],
      'worker-src': ['blob:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    });
    expect(page.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
    });
  });

  it('has examples whose names do not collide with those of the README', () => {
    const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');
    const matches = readme.matchAll(/(?:email|createRoom\(input: { name): \\"([^"\\]+)/g);
    const taken = new Set(Array.from(matches, ([, name]) => name));
    expect(taken.size).toBe(2);
    const examples = JSON.stringify(tabs);
    for (const name of taken) expect(examples).not.toContain(name);
  });

  it('is not served with GRAPHIQL=false: a browser gets the error of a request without a query', async () => {
    const postroom = await launchForTest({ GRAPHIQL: 'false' });
    const { status, headers, body } = await get({ accept: ofBrowser }, { from: postroom });
    expect({ status, type: headers['content-type'] }).toEqual({
      status: 422,
      type: 'application/graphql-response+json; charset=utf-8',
    });
    expect(JSON.parse(String(body))).toMatchObject({
      errors: [
        { message: expect.stringContaining('"query" must be a string'), extensions: { code: 'INVALID_REQUEST' } },
      ],
    });
    expect(JSON.parse(String(body))).not.toHaveProperty('data');
  });
});

const exampleTabs = ['LookAround', 'SignUp', 'CreatePost', 'WatchRoom', 'MyRooms', 'Inbox', 'WhoIsHere', 'SetTyping'];

const ownEvents = `subscription OwnEvents($room: ID!) {
  roomEvents(room: $room) { actor { email } ... on PostCreated { post { title } } }
}`;

describe.skipIf(!hasChromium)(`in a browser${chromiumNote}`, () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchBrowser();
  });

  afterAll(() => browser?.close());

  async function open({ graphqlUrl }: Postroom = shared): Promise<Graphiql> {
    return Graphiql.open(await newVisitor(browser), graphqlUrl);
  }

  it('it requests nothing from any other server: not for the page, its workers, its schema, an operation or a subscription', async () => {
    const ada = await shared.signUp('Ada');
    const room = await shared.createRoom(ada, randomUUID());
    const graphiql = await open();
    // The documentation is shown only if the introspection query succeeds within the server's limits.
    await graphiql.page.getByLabel('Show Documentation Explorer').click();
    await graphiql.page.getByText('Postroom: users, posts and live rooms.').first().waitFor();
    await graphiql.play();
    await graphiql.shows({ data: { viewer: null } });
    await graphiql.choose('WatchRoom');
    await graphiql.write('variables', JSON.stringify({ room }));
    await graphiql.play();
    await graphiql.live();
    const { host } = new URL(shared.url);
    const places = new Set(graphiql.requested.map((url) => url.replace(/^(blob:\S+\/)[0-9a-f-]{36}$/, '$1')));
    expect([...places].sort()).toEqual([`blob:http://${host}/`, `http://${host}/graphql`, `ws://${host}/graphql`]);
    expect(graphiql.page.workers().length).toBeGreaterThan(0);
    expect(graphiql.faults).toEqual([]);
  });

  it('even a script in it cannot reach another server', async () => {
    const reached: string[] = [];
    const elsewhere = createServer((incoming, response) => {
      reached.push(String(incoming.url));
      response.writeHead(200, { 'access-control-allow-origin': '*' }).end();
    });
    elsewhere.on('upgrade', (incoming, socket) => {
      reached.push(String(incoming.url));
      socket.destroy();
    });
    await once(elsewhere.listen(0, '127.0.0.1'), 'listening');
    onTestFinished(() => void elsewhere.close());
    const { port } = elsewhere.address() as AddressInfo;
    const graphiql = await open();
    const outcomes = await graphiql.page.evaluate(async (other) => {
      const element = (name: string, address: Record<string, string>) =>
        new Promise<string>((resolve) => {
          const made = Object.assign(document.createElement(name), address);
          made.addEventListener('load', () => resolve('taken'));
          made.addEventListener('error', () => resolve('refused'));
          document.head.append(made);
        });
      const worker = (source: string) =>
        new Promise<string>((resolve) => {
          const started = new Worker(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })));
          started.addEventListener('message', ({ data }) => resolve(data));
        });
      const fetching = `fetch('${other}/worker').then(() => postMessage('taken'), () => postMessage('refused'))`;
      const socket = new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', ({ blockedURI }) => {
          if (blockedURI.startsWith('ws')) resolve('refused');
        });
        new WebSocket(`${other.replace('http', 'ws')}/socket`).addEventListener('error', () => {
          setTimeout(() => resolve('taken'));
        });
      });
      return Promise.all([
        fetch(`${other}/fetch`).then(
          () => 'taken',
          () => 'refused',
        ),
        worker(fetching),
        socket,
        element('img', { src: `${other}/image` }),
        element('script', { src: `${other}/script` }),
        element('link', { rel: 'stylesheet', href: `${other}/style` }),
      ]);
    }, `http://127.0.0.1:${port}`);
    expect({ outcomes: new Set(outcomes), reached }).toEqual({ outcomes: new Set(['refused']), reached: [] });
  });

  it('a query that is typed is answered, stays out of the URL, and is there after a reload', async () => {
    const name = `room ${randomUUID()}`;
    const room = await shared.createRoom(await shared.signUp('Ada'), name);
    const graphiql = await open();
    const query = `query Typed { roomByName(name: "${name}") { id } }`;
    await graphiql.write('query', query);
    await graphiql.play();
    await graphiql.shows({ data: { roomByName: { id: room } } });
    expect(graphiql.page.url()).toBe(shared.graphqlUrl);
    await graphiql.page.reload();
    await graphiql.ready();
    expect(await graphiql.tabs()).toEqual(['Typed', ...exampleTabs.slice(1)]);
    expect(await graphiql.read('query')).toBe(query);
  });

  it('tabs stored by another GraphiQL on the same host and port do not interfere', async () => {
    const visitor = await newVisitor(browser);
    const other = { id: 'a', title: 'Other', query: '{ other }', variables: null, headers: null, operationName: null };
    const state = JSON.stringify({ tabs: [{ ...other, response: null }], activeTabIndex: 0 });
    await visitor.addInitScript((tabs) => localStorage.setItem('graphiql:tabState', tabs), state);
    const graphiql = await Graphiql.open(visitor, shared.graphqlUrl);
    expect(await graphiql.tabs()).toEqual(exampleTabs);
  });

  it('the first click on another tab selects it', async () => {
    const graphiql = await open();
    await graphiql.page.getByRole('tab').getByText('SignUp').click();
    await expect.poll(() => graphiql.read('query')).toContain('mutation SignUp');
  });

  it('a token under Headers signs in over HTTP and over the WebSocket', async () => {
    const ada = await shared.signUp('Ada');
    const room = await shared.createRoom(ada, randomUUID());
    const graphiql = await open();
    // The e-mail address shows that the server received the token: without credentials, no address is visible.
    await graphiql.write('query', 'query Viewer { viewer { email } }');
    await graphiql.play();
    await graphiql.shows({ data: { viewer: null } });
    await graphiql.write('headers', `{ "Authorization": "Bearer ${ada.token}" }`);
    await graphiql.play();
    await graphiql.shows({ data: { viewer: { email: ada.email } } });
    await graphiql.write('query', ownEvents);
    await graphiql.write('variables', JSON.stringify({ room }));
    await graphiql.play();
    await graphiql.live();
    await shared.createPost(ada, room, 'mine');
    await graphiql.shows({
      data: { roomEvents: { actor: { email: ada.email }, post: { title: 'mine' } } },
    });
  });

  it('a subscription with an invalid token fails with a message, and is not retried', async () => {
    const room = await shared.createRoom(await shared.signUp('Ada'), randomUUID());
    const graphiql = await open();
    await graphiql.write('query', ownEvents);
    await graphiql.write('variables', JSON.stringify({ room }));
    await graphiql.write('headers', '{ "Authorization": "Bearer wrong" }');
    await graphiql.play();
    await graphiql.shows({ errors: [{ message: 'The WebSocket was closed: 4403 Forbidden' }] });
  });

  it('a subscription shows every event once, including the events during a restart of the server', async () => {
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const postroom = await launchForTest(settings);
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    const graphiql = await open(postroom);
    await graphiql.choose('WatchRoom');
    await graphiql.write('variables', JSON.stringify({ room }));
    await graphiql.play();
    await graphiql.live();
    await postroom.createPost(ada, room, 'before');
    await graphiql.shows({ data: { roomEvents: { post: { title: 'before' } } } });
    await postroom.stop();
    // The server starts again only after GraphiQL has failed to reconnect.
    await expect.poll(() => graphiql.refused).toBeGreaterThan(0);
    const restarted = await launchForTest({ ...settings, PORT: new URL(postroom.url).port });
    await restarted.createPost(ada, room, 'while it was away');
    await graphiql.shows({
      data: { roomEvents: { __typename: 'PostCreated', post: { title: 'while it was away' } } },
    });
    const events = graphiql.received.map((frame) => JSON.parse(frame)).filter(({ type }) => type === 'next');
    expect(events.map(({ payload }) => payload.data.roomEvents.post.title)).toEqual(['before', 'while it was away']);
  });
});
