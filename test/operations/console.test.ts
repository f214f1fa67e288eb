import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as operations from '../../packages/pages/console/operations.ts';
import { EventStream } from '../support/clients/event-stream.ts';
import { requestUnchanged } from '../support/clients/http.ts';
import { launchForTest, type Postroom, scratchFolder, startInProcess } from '../support/server/postroom.ts';
import { launchStreamFixture } from '../support/server/stream-fixture.ts';

let shared: Postroom;

beforeAll(async () => {
  shared = await startInProcess();
});

afterAll(() => shared.stop());

async function get(path: string, { method = 'GET', from = shared, headers = {} } = {}) {
  const { body, ...answer } = await requestUnchanged(`${from.url}${path}`, { method, headers });
  return { ...answer, body: body.toString() };
}

function hashesOf(page: string, element: 'script' | 'style'): string[] {
  return [...page.matchAll(new RegExp(`<${element}>(.*?)</${element}>`, 'gs'))].map(
    ([, content = '']) => `'sha256-${createHash('sha256').update(content).digest('base64')}'`,
  );
}

it('the console is one page without data, the same for everybody', async () => {
  const { status, headers, body } = await get('/console');
  expect({ status, headers }).toMatchObject({ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(body).toContain('<title>Postroom console</title>');
  const admin = await get('/console', { headers: { authorization: 'Bearer wrong' } });
  expect(admin.body).toBe(body);
});

it('it may run only its own scripts and styles, send requests only to its server, and turn no text into HTML', async () => {
  const { headers, body } = await get('/console');
  const scripts = hashesOf(body, 'script');
  expect(scripts).toHaveLength(3);
  const directives = String(headers['content-security-policy']).split('; ');
  expect(Object.fromEntries(directives.map((directive) => directive.split(/ (.*)/s)))).toEqual({
    'default-src': "'none'",
    'script-src': scripts.join(' '),
    'style-src': hashesOf(body, 'style').join(' '),
    'img-src': 'data:',
    'require-trusted-types-for': "'script'",
    'trusted-types': "'none'",
    'connect-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  });
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
});

it('it is not sent again to a browser that has it cached, and answers HEAD without a body', async () => {
  const { headers } = await get('/console');
  const cached = { 'if-none-match': String(headers.etag) };
  expect(await get('/console', { headers: cached })).toMatchObject({ status: 304, body: '' });
  const head = await get('/console', { method: 'HEAD' });
  expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': headers['content-length'] } });
});

it('it can only be read', async () => {
  const { status, headers } = await get('/console', { method: 'POST' });
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: 'GET, HEAD' });
});

it('with CONSOLE=false its path does not exist, for any method', async () => {
  const from = await launchForTest({ CONSOLE: 'false' });
  const comparable = async (path: string, method: string) => {
    const { status, headers, body } = await get(path, { method, from });
    const withoutId = body.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/, '');
    return { status, headers: Object.keys(headers).sort(), body: withoutId };
  };
  for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
    const off = await comparable('/console', method);
    expect(off).toEqual(await comparable('/no-such-path', method));
    expect(off.status).toBe(404);
  }
});

it('its documents are valid, within the limits of the defaults, and can be trusted documents', async () => {
  const file = join(scratchFolder(), 'documents.json');
  writeFileSync(file, JSON.stringify(Object.fromEntries(Object.values(operations).map(({ text }) => [text, text]))));
  const { postroom: open, settings, owner, room } = await launchStreamFixture();
  const post = expect.objectContaining({ id: await open.createPost(owner, room, 'Hello') });
  const postroom = await launchForTest({ ...settings, TRUSTED_DOCUMENTS: file });
  const { connections } = await postroom.ask(operations.listConnections.text, { first: 50 }, owner.token);
  expect(connections).toEqual({ nodes: [], pageInfo: { hasNextPage: false, endCursor: null }, total: 0 });
  const { load } = await postroom.ask(operations.readLoad.text, { order: 'OPERATIONS' }, owner.token);
  expect(load.users).toMatchObject([{ user: { id: owner.id } }]);
  expect(await postroom.ask(operations.listRefusals.text, { requestId: 'none' }, owner.token)).toEqual({
    refusals: [],
  });
  const find = (operation: { text: string }, text: string, id = text) =>
    postroom.ask(operation.text, { text, id }, owner.token);
  const user = expect.objectContaining({ id: owner.id, email: owner.email });
  expect(await find(operations.findUsers, 'own')).toEqual({ user: null, users: { data: [user] } });
  expect(await find(operations.findUsers, 'nobody', owner.id)).toEqual({ user, users: { data: [] } });
  const hall = expect.objectContaining({ id: room, owner: { name: 'Owner' } });
  expect(await find(operations.findRooms, 'hall')).toEqual({ room: null, roomByName: hall, rooms: { data: [hall] } });
  expect(await find(operations.findPosts, 'hell')).toEqual({ post: null, posts: { data: [post] } });
  const mute = { user: owner.id, room, until: '2999-01-01T00:00:00.000Z' };
  const { muteUser } = await postroom.ask(operations.muteUser.text, { input: mute }, owner.token);
  expect(muteUser).toEqual({ until: mute.until });
  const authorization = `Bearer ${owner.token}`;
  const stream = await EventStream.open(postroom.graphqlUrl, operations.statusChanges.text, { authorization });
  expect(await stream.results.next()).toMatchObject({
    data: { serverStatusChanged: { nodes: expect.arrayContaining([expect.objectContaining({ connections: 1 })]) } },
  });
});
