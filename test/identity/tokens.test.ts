import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { EventStream, streamForms } from '../support/clients/event-stream.ts';
import { post } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { connectAs } from '../support/identity/credentials.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const server = shareServer({ SESSION_KEY: pem });

let ada: Person;
beforeAll(async () => {
  ada = await server.postroom.signUp('Ada');
});

const now = () => Math.floor(Date.now() / 1_000);

interface Recipe {
  key?: KeyObject;
  header?: Record<string, unknown>;
  claims?: Record<string, unknown>;
}

/** A token as the server creates it, with these changes; undefined omits a claim. */
function forge({ key = privateKey, header = {}, claims = {} }: Recipe = {}): Promise<string> {
  const all = { iss: 'postroom', sub: ada.id, iat: now(), exp: now() + 60, ...claims };
  return new SignJWT(JSON.parse(JSON.stringify(all)))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', ...header })
    .sign(key);
}

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const claims = () => ({ iss: 'postroom', sub: ada.id, iat: now(), exp: now() + 60 });
const unsigned = (alg: string) => `${encode({ alg, typ: 'JWT' })}.${encode(claims())}.`;

/** Algorithm confusion: an HMAC whose secret is the public key. */
function signedWithPublicKey(): string {
  const secret = createPublicKey(privateKey).export({ type: 'spki', format: 'pem' });
  const text = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims())}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

function tampered(token: string): string {
  const [header, , signature] = token.split('.');
  return `${header}.${encode({ ...claims(), exp: now() + 1_000_000 })}.${signature}`;
}

const foreign = generateKeyPairSync('ed25519').privateKey;
const foreignEs256 = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;

const bad: Record<string, () => string | Promise<string>> = {
  'one that has expired': () => forge({ claims: { exp: now() - 1 } }),
  'one that expires this second': () => forge({ claims: { exp: now() } }),
  'one that is not valid yet': () => forge({ claims: { nbf: now() + 60 } }),
  'one without an expiry': () => forge({ claims: { exp: undefined } }),
  'one whose expiry is not a number': () => forge({ claims: { exp: '9999999999' } }),
  'one without a subject': () => forge({ claims: { sub: undefined } }),
  'one of an unknown user': () => forge({ claims: { sub: 'u00000000000000000000000000' } }),
  'one whose subject is not a string': () => forge({ claims: { sub: { id: 'x' } } }),
  'one of another issuer': () => forge({ claims: { iss: 'elsewhere' } }),
  'one of another type': () => forge({ header: { typ: 'at+jwt' } }),
  'one signed with another key': () => forge({ key: foreign }),
  'one signed with another key of the same id': () => forge({ key: foreign, header: { kid: 'session' } }),
  'one that contains its key': () =>
    forge({ key: foreign, header: { jwk: createPublicKey(foreign).export({ format: 'jwk' }) } }),
  'one that contains the URL of its key': () => forge({ key: foreign, header: { jku: 'http://127.0.0.1:1/keys' } }),
  'one of another algorithm': () => forge({ key: foreignEs256, header: { alg: 'ES256' } }),
  'one with alg none': () => unsigned('none'),
  'one with alg NoNe': () => unsigned('NoNe'),
  'one without alg': () => `${encode({ typ: 'JWT' })}.${encode(claims())}.`,
  'an HMAC by the public key': signedWithPublicKey,
  'one with other claims than were signed': async () => tampered(await forge()),
  'one without its signature': async () => (await forge()).replace(/[^.]+$/, ''),
  'one with a second signature': async () => `${await forge()}.x`,
  'one with an unknown critical header': async () => {
    const [, body, signature] = (await forge()).split('.');
    return `${encode({ alg: 'EdDSA', typ: 'JWT', crit: ['x'], x: 1 })}.${body}.${signature}`;
  },
  garbage: () => 'garbage',
  dots: () => '..',
  'a long one': () => 'x'.repeat(12_000),
};

async function sendAs(authorization: string) {
  const response = await fetch(server.postroom.graphqlUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    body: JSON.stringify({ query: '{ rooms { data { id } } }' }),
  });
  const challenge = response.headers.get('www-authenticate');
  return { status: response.status, challenge, body: JSON.parse((await response.text()) || 'null') };
}

const refused = {
  status: 401,
  challenge: 'Bearer realm="postroom", error="invalid_token"',
  body: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
};

describe('an access token', () => {
  it('signed with the key of the server is accepted', async () => {
    const { viewer } = await server.postroom.ask('{ viewer { id } }', {}, await forge());
    expect(viewer).toEqual({ id: ada.id });
  });

  it.each(Object.keys(bad))('%s is refused, and is not treated as absent credentials', async (name) => {
    const answer = await sendAs(`Bearer ${await bad[name]?.()}`);
    expect(answer).toMatchObject(refused);
    expect(answer.body).not.toHaveProperty('data');
  });

  it.each(Object.keys(bad))('%s is refused without a scheme, too', async (name) => {
    const token = (await bad[name]?.()) ?? '';
    const answer = await sendAs(token);
    expect(answer).toMatchObject(refused);
    expect(answer.body).not.toHaveProperty('data');
    expect(await connectAs(server.postroom, token)).toBe(4403);
  });

  it('is accepted without a scheme over HTTP, in event streams, and for WebSockets in the header, the payload and a renewal', async () => {
    const { postroom } = server;
    const authorization = await forge();
    const room = await postroom.createRoom(ada, scratchName());
    const roles = `subscription { roomEvents(room: "${room}") { room { viewerRole } } }`;
    const { data } = await post(postroom, '{ viewer { id } }', { headers: { authorization } });
    expect(data).toEqual({ viewer: { id: ada.id } });
    const streams = await Promise.all(
      streamForms.map(([, form]) => EventStream.open(postroom.graphqlUrl, roles, { authorization, ...form })),
    );
    const [inPayload, inHeader, renewed] = await Promise.all([
      ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization } }),
      ProtocolSocket.open(postroom.webSocketUrl, { headers: { authorization } }),
      ProtocolSocket.open(postroom.webSocketUrl),
    ]);
    renewed.send({ type: 'ping', payload: { authorization } });
    await renewed.take(({ type }) => type === 'pong');
    const sockets = [inPayload, inHeader, renewed];
    for (const socket of sockets) await socket.follow('1', roles);
    await postroom.createPost(ada, room, 'post');
    const expected = { data: { roomEvents: { room: { viewerRole: 'OWNER' } } } };
    for (const { results } of streams) expect(await results.next()).toMatchObject(expected);
    for (const socket of sockets)
      expect((await socket.take(({ type }) => type === 'next')).payload).toMatchObject(expected);
  });

  it('is checked on each request: a token that was accepted is refused after it has expired', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const token = await forge({ claims: { exp: now() + 30 } });
    expect(await sendAs(`Bearer ${token}`)).toMatchObject({ status: 200 });
    vi.setSystemTime(Date.now() + 30_000);
    expect((await sendAs(`Bearer ${token}`)).status).toBe(401);
  });

  it('that names no generation of sessions is refused after the first change of the password, whatever its time of issue', async () => {
    const bob = await server.postroom.signUp('Bob');
    const forged = (at?: number) => forge({ claims: { sub: bob.id, iat: now() + 3_600, at } });
    for (const at of [undefined, 0]) expect(await sendAs(`Bearer ${await forged(at)}`)).toMatchObject({ status: 200 });
    const change = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { expiresAt } }';
    const input = { currentPassword: bob.password, newPassword: 'another horse' };
    await server.postroom.ask(change, { input }, bob.token);
    for (const at of [undefined, 0]) expect(await sendAs(`Bearer ${await forged(at)}`)).toMatchObject(refused);
  });

  it('of 2 MB is refused, and the server continues to run', async () => {
    const answer = await sendAs(`Bearer ${'x'.repeat(2_000_000)}`).catch((error: Error) => error);
    // The header is longer than the server allows: it may close the connection before the client has sent all of it.
    if (!(answer instanceof Error)) expect(answer.status).toBe(431);
    expect(await sendAs(`Bearer ${await forge()}`)).toMatchObject({ status: 200 });
  });
});

describe('an Authorization header', () => {
  it.each([
    '',
    ' ',
    'Bearer',
    'Bearer ',
    'Basic YTpi',
    'Bearer a b',
    'token',
    'ApiKey x',
    'Bearer,x',
    'a.b',
    'a.b.',
    'a.b.c.d',
    'a.b.c=',
    'a.b.c d',
    'JWT a.b.c',
    'pr_live_a.b.c',
  ])('of the form %j is refused', async (authorization) => {
    // RFC 6750 has no error for a request without credentials; an empty header counts as credentials.
    expect(await sendAs(authorization)).toMatchObject({ ...refused, challenge: expect.stringContaining('Bearer') });
  });

  it('has a scheme that is not case-sensitive', async () => {
    for (const scheme of ['bearer', 'BEARER', 'Bearer ']) {
      expect(await sendAs(`${scheme} ${await forge()}`)).toMatchObject({ status: 200 });
    }
  });
});
