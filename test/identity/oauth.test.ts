import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactSign, exportJWK, exportSPKI, generateKeyPair } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import { audience, openIssuer, signToken } from '../support/identity/issuer.ts';
import { launchForTest, type Postroom, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { advanceTime, pollWhileTimePasses, withVirtualTimers } from '../support/server/virtual-timers.ts';

type Issuer = Awaited<ReturnType<typeof openIssuer>>;

async function launchBeside(
  options: Parameters<typeof openIssuer>[0] = {},
  settings: Settings = {},
): Promise<{ issuer: Issuer; postroom: Postroom }> {
  const issuer = await openIssuer(options);
  onTestFinished(() => issuer.close());
  const own = { OAUTH_ISSUER: issuer.issuer, OAUTH_AUDIENCE: audience, ...settings };
  return { issuer, postroom: await launchForTest(own) };
}

const now = () => Math.floor(Date.now() / 1_000);
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const createRoom = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';

async function createKey(postroom: Postroom): Promise<string> {
  const make = 'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key } }';
  const { createApiKey } = await postroom.ask(make, {}, (await postroom.signUp('Ada')).token);
  return createApiKey.key;
}

describe('a user who signs in by the authorization code flow with PKCE', () => {
  it('can query, mutate and subscribe; the socket closes when the token expires, and continues when the token is renewed', async () => {
    const { issuer, postroom } = await withVirtualTimers(launchBeside, { withClock: true });
    const token = await issuer.signIn('ada');
    const first = await sendAs(postroom, `Bearer ${token}`);
    expect(first).toMatchObject({ status: 200, data: { viewer: { name: 'ada' } } });
    const made = await sendAs(postroom, `Bearer ${token}`, createRoom, { name: 'hall' });
    expect(made.status).toBe(200);
    const room: string = made.data.createRoom.room.id;
    const events = `subscription { roomEvents(room: "${room}") { __typename } }`;
    const post = `mutation { createPost(input: { room: "${room}", title: "x" }) { post { id } } }`;

    issuer.state.tokenSeconds = 30;
    const [brief, left] = [await issuer.signIn('ada'), await issuer.signIn('ada')];
    const renewed = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${brief}` } });
    const expiring = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${left}` } });
    await Promise.all([renewed.follow('e', events), expiring.follow('e', events)]);
    renewed.send({ type: 'ping', payload: { authorization: `Bearer ${token}` } });
    await renewed.take(({ type }) => type === 'pong');
    advanceTime(31_000);
    expect((await expiring.closed).code).toBe(4403);
    expect(await sendAs(postroom, `Bearer ${left}`)).toMatchObject({ status: 401 });
    await sendAs(postroom, `Bearer ${token}`, post);
    await renewed.take(({ type }) => type === 'next');
    expect(renewed.nexts('e')).toEqual([
      { data: { roomEvents: { __typename: 'PostCreated' } }, extensions: expect.anything() },
    ]);
  });

  it('has only the scopes that were granted', async () => {
    const { issuer, postroom } = await launchBeside();
    const token = await issuer.signIn('ada', 'openid read');
    expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 200 });
    const refused = await sendAs(postroom, `Bearer ${token}`, createRoom, { name: 'x' });
    expect(refused).toMatchObject({ status: 403, errors: [{ extensions: { code: 'FORBIDDEN', scope: 'WRITE' } }] });
    expect(refused.challenge).toContain('error="insufficient_scope", scope="write"');
  });
});

describe('the scopes of a token', () => {
  const toCreate = async (claims: Record<string, unknown>[]) => {
    const { issuer, postroom } = await launchBeside();
    const replies = claims.map(async (claim, index) =>
      sendAs(postroom, `Bearer ${await issuer.sign(claim)}`, createRoom, { name: `room ${index}` }),
    );
    return (await Promise.all(replies)).map(({ status, errors }) => errors?.[0]?.extensions ?? status);
  };

  it('are the scopes of this server that the token names, as a string or a list, in scope or scp', async () => {
    const held = [{ scope: 'read' }, { scope: ['read', 'x'] }, { scp: 'x READ' }, { scope: 'openid', scp: ['read'] }];
    const lacking = { code: 'FORBIDDEN', scope: 'WRITE' };
    expect(await toCreate(held)).toEqual(held.map(() => lacking));
    expect(await toCreate([{ scope: ['read', 'write'] }, { scp: 'write' }])).toEqual([200, 200]);
  });

  it('are READ and WRITE when the token names no scope of this server', async () => {
    expect(await toCreate([{}, { scope: 'openid profile' }, { scope: ['x'] }, { scp: [] }])).toEqual(
      Array(4).fill(200),
    );
  });
});

it('the first token of a subject creates its user once, even when many requests in two processes present it at the same time', async () => {
  const issuer = await openIssuer();
  onTestFinished(() => issuer.close());
  const settings = {
    OAUTH_ISSUER: issuer.issuer,
    OAUTH_AUDIENCE: audience,
    DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`,
  };
  const processes = [await launchForTest(settings), await launchForTest(settings)];
  const subjects = Array.from({ length: 5 }, (_, index) => `newcomer ${index}`);
  for (const sub of subjects) {
    const tokens = await Promise.all(Array.from({ length: 10 }, () => issuer.sign({ sub, name: 'New Comer' })));
    const replies = await Promise.all(
      processes.flatMap((postroom) => tokens.map((token) => sendAs(postroom, `Bearer ${token}`))),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(replies.map(({ data }) => data.viewer.id)).size).toBe(1);
  }
  expect(await processes[0]?.ask('{ users { pagination { total } } }')).toEqual({
    users: { pagination: { total: subjects.length } },
  });
});

it('the name of a token is stored without characters that are not seen, which could disguise it', async () => {
  const issuer = await openIssuer();
  onTestFinished(() => issuer.close());
  const postroom = await launchForTest({ OAUTH_ISSUER: issuer.issuer, OAUTH_AUDIENCE: audience });
  for (const [name, stored] of [
    ['\u202ebob', 'bob'],
    ['\u2066\u2069', 'someone'],
    ['\u200b\u2800\u00ad', 'someone'],
    ['lob\u200bby', 'lob by'],
    ['e\u0301ve', '\u00e9ve'],
  ] as const) {
    const token = await issuer.sign({ sub: name, name });
    expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({ data: { viewer: { name: stored } } });
  }
});

describe('a subject whose account was deleted', () => {
  const remove = (id: string) => `mutation { deleteUser(input: { id: "${id}" }) { user { id } } }`;
  const viewerOf = async (postroom: Postroom, token: string) =>
    (await sendAs(postroom, `Bearer ${token}`)).data?.viewer?.id;

  it('is not signed in by tokens issued before the deletion, and is a new user with tokens issued after it', async () => {
    const file = join(scratchFolder(), 'postroom.db');
    const { issuer, postroom } = await launchBeside({}, { DATABASE_URL: `sqlite:${file}` });
    const sub = 'ada@issuer.example';
    const [used, unused, others] = [
      await issuer.sign({ sub }),
      await issuer.sign({ sub, jti: 'unused' }),
      await issuer.sign({ sub: 'bob' }),
    ];
    const [first, bob] = [await viewerOf(postroom, used), await viewerOf(postroom, others)];
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${used}` } });
    expect((await sendAs(postroom, `Bearer ${used}`, remove(first))).status).toBe(200);
    expect((await socket.closed).code).toBe(4403);
    for (const token of [used, unused]) {
      expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({
        status: 401,
        challenge: expect.stringContaining('error="invalid_token"'),
      });
      expect(await connectAs(postroom, `Bearer ${token}`)).toBe(4403);
    }
    const people = await postroom.ask('{ users { data { id } } }');
    expect(people).toEqual({ users: { data: [{ id: bob }] } });

    // Tokens have times in whole seconds: a token that is issued in the second of the deletion counts as older than the
    // deletion.
    let again = '';
    const comeBack = async () => {
      again = await issuer.sign({ sub });
      return viewerOf(postroom, again);
    };
    await expect.poll(comeBack).toBeDefined();
    const second = await viewerOf(postroom, again);
    expect(second).not.toBe(first);
    for (const token of [used, unused]) expect((await sendAs(postroom, `Bearer ${token}`)).status).toBe(401);
    expect(await viewerOf(postroom, others)).toBe(bob);

    expect((await sendAs(postroom, `Bearer ${again}`, remove(second))).status).toBe(200);
    expect((await sendAs(postroom, `Bearer ${again}`)).status).toBe(401);
    expect(await postroom.stop()).toBe(0);
    expect(readFileSync(file, 'latin1')).not.toContain(sub);
  });
});

describe('of all values that can be sent as an access token', () => {
  type Make = (issuer: Issuer) => Promise<string> | string;

  const good: Record<string, Make> = {
    'a genuine one': ({ sign }) => sign(),
    'one whose type is application/at+jwt': ({ sign }) => sign({}, { typ: 'application/at+jwt' }),
    'one for several audiences': ({ sign }) => sign({ aud: ['urn:other', audience] }),
    'one that has just become valid': ({ sign }) => sign({ nbf: now() - 1 }),
  };

  const stranger = generateKeyPair('RS256', { extractable: true });

  const bad: Record<string, Make> = {
    'one without a signature': ({ issuer }) => `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(claimsOf(issuer))}.`,
    'one that nobody signed, in other letters': ({ issuer }) =>
      `${encode({ alg: 'NoNe', typ: 'at+jwt' })}.${encode(claimsOf(issuer))}.`,
    'one signed with the public key as an HMAC secret': async ({ issuer, publicKey }) => {
      const text = `${encode({ alg: 'HS256', typ: 'at+jwt', kid: 'issuer-key' })}.${encode(claimsOf(issuer))}`;
      return `${text}.${createHmac('sha256', await exportSPKI(publicKey))
        .update(text)
        .digest('base64url')}`;
    },
    "a stranger's under the issuer's key id": async ({ issuer }) =>
      signToken({ issuer, changes: {}, header: {}, key: (await stranger).privateKey }),
    'one that contains its key': async ({ issuer }) => {
      const { privateKey, publicKey } = await stranger;
      return signToken({ issuer, changes: {}, header: { jwk: await exportJWK(publicKey) }, key: privateKey });
    },
    'one that contains the URL of its key': async ({ issuer }) => {
      const { privateKey } = await stranger;
      return signToken({ issuer, changes: {}, header: { jku: `${issuer}/foreign-jwks` }, key: privateKey });
    },
    'one of another type': ({ sign }) => sign({}, { typ: 'JWT' }),
    'one without a type': ({ sign }) => sign({}, { typ: undefined }),
    'one for another audience': ({ sign }) => sign({ aud: 'urn:other' }),
    'one of another issuer': ({ sign }) => sign({ iss: 'https://issuer.example' }),
    'one without an expiry': ({ sign }) => sign({ exp: undefined }),
    'one that has expired': ({ sign }) => sign({ exp: now() - 1 }),
    'one that is not valid yet': ({ sign }) => sign({ nbf: now() + 60 }),
    'one without a subject': ({ sign }) => sign({ sub: undefined }),
    'one with an extension that must be understood': async ({ issuer, privateKey }) =>
      new CompactSign(Buffer.from(JSON.stringify(claimsOf(issuer))))
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: 'issuer-key', crit: ['x'], x: 1 })
        .sign(privateKey, { crit: { x: true } }),
    'one with other claims than were signed': async ({ issuer, sign }) => {
      const [header, , signature] = (await sign()).split('.');
      return `${header}.${encode({ ...claimsOf(issuer), sub: 'eve' })}.${signature}`;
    },
    'three words': () => 'not.a.token',
    'one word': () => 'garbage',
    nothing: () => '',
    'ten thousand letters': () => 'x'.repeat(10_000),
  };

  function claimsOf(iss: string) {
    return { iss, aud: audience, sub: 'ada', client_id: 'x', jti: 'x', iat: now(), exp: now() + 60 };
  }

  it('exactly the valid tokens are accepted, over HTTP and over WebSocket', async () => {
    const { issuer, postroom } = await launchBeside();
    for (const [name, make] of Object.entries({ ...good, ...bad })) {
      const authorization = `Bearer ${await make(issuer)}`;
      const isGood = name in good;
      const { status, challenge, data } = await sendAs(postroom, authorization);
      expect({ name, status, hasData: data !== undefined && data !== null }).toEqual({
        name,
        status: isGood ? 200 : 401,
        hasData: isGood,
      });
      if (!isGood) expect(challenge, name).toContain('error="invalid_token"');
      expect([name, await connectAs(postroom, authorization)]).toEqual([name, isGood ? 'admitted' : 4403]);
    }
    expect(issuer.countRequests('/foreign-jwks')).toBe(0);
  });

  it('a token of two million characters is too long for a header and for a frame', async () => {
    const { postroom } = await launchBeside();
    const authorization = `Bearer ${'x'.repeat(2_000_000)}`;
    expect((await sendAs(postroom, authorization)).status).toBe(431);
    expect(await connectAs(postroom, authorization)).toBe(1009);
    expect(await sendAs(postroom, undefined)).toMatchObject({ status: 200 });
  });

  it('a hundred unknown key ids cause one request for the keys of the issuer', async () => {
    const { issuer, postroom } = await launchBeside();
    const tokens = await Promise.all(Array.from({ length: 100 }, (_, index) => issuer.sign({}, { kid: `k${index}` })));
    const replies = await Promise.all(tokens.map((token) => sendAs(postroom, `Bearer ${token}`)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([401]));
    expect(issuer.countRequests('/jwks')).toBe(1);
    expect(issuer.countRequests('/.well-known')).toBe(1);
  });
});

it('a token is refused when the issuer has withdrawn its key, also if it was used before', async () => {
  const { issuer, postroom } = await withVirtualTimers(launchBeside);
  const token = await issuer.sign();
  expect((await sendAs(postroom, `Bearer ${token}`)).status).toBe(200);
  issuer.state.hasWithdrawnKey = true;
  // The keys are read again every ten minutes. The viewer of a token is cached for a second.
  advanceTime(600_000);
  await expect.poll(() => issuer.countRequests('/jwks')).toBe(2);
  await pollWhileTimePasses(async () => (await sendAs(postroom, `Bearer ${token}`)).status).toBe(401);
});

it('a WebSocket and its streams end when the issuer has withdrawn the key of their token, and those of tokens of other keys continue', async () => {
  // The sockets answer no ping while time passes at once.
  const { issuer, postroom } = await withVirtualTimers(() => launchBeside({}, { STALL_SECONDS: '3600' }));
  // A token that names no key is verified with the only key of the issuer, which has another id afterwards.
  const exp = now() + 3_600;
  const [revoked, other] = [await issuer.sign({ exp }), await issuer.sign({ exp }, { kid: undefined })];
  const room = (await sendAs(postroom, `Bearer ${other}`, createRoom, { name: 'hall' })).data.createRoom.room.id;
  const open = async (token: string) => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${token}` } });
    await socket.follow('e', `subscription { roomEvents(room: "${room}") { __typename } }`);
    return socket;
  };
  const [ended, kept] = [await open(revoked), await open(other)];
  issuer.state.hasWithdrawnKey = true;
  advanceTime(600_000);
  await expect.poll(() => issuer.countRequests('/jwks')).toBe(2);
  await pollWhileTimePasses(() => ended.webSocket.readyState).toBe(ended.webSocket.CLOSED);
  expect((await ended.closed).code).toBe(4403);
  await kept.settle();
  expect(kept.nexts('e')).toEqual([]);
});

describe('while the issuer is down', () => {
  it('tokens signed with cached keys are accepted, whether or not they were used before; other tokens are not called invalid', async () => {
    const { issuer, postroom } = await launchBeside();
    const [known, fresh] = [await issuer.sign(), await issuer.sign({ sub: 'bob' })];
    expect((await sendAs(postroom, `Bearer ${known}`)).status).toBe(200);
    issuer.state.isDown = true;
    expect((await sendAs(postroom, `Bearer ${known}`)).status).toBe(200);
    expect((await sendAs(postroom, `Bearer ${fresh}`)).status).toBe(200);
    expect(await connectAs(postroom, `Bearer ${fresh}`)).toBe('admitted');
  });

  it('before its keys are cached, no token is called invalid', async () => {
    const { issuer, postroom } = await launchBeside();
    const token = await issuer.sign();
    issuer.state.isDown = true;
    expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 502, challenge: null });
    expect(await connectAs(postroom, `Bearer ${token}`)).toBe(1013);
    issuer.state.isDown = false;
    // After a failure of the issuer, the server sends no request to it for one second.
    await expect.poll(() => sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 200 });
  });
});

describe('opaque tokens', () => {
  async function launchIntrospecting() {
    const issuer = await openIssuer({ format: 'opaque' });
    onTestFinished(() => issuer.close());
    return { issuer, postroom: await launchForTest(issuer.settings) };
  }

  it('are accepted when the issuer knows them, and refused when it does not', async () => {
    const { issuer, postroom } = await launchIntrospecting();
    const token = await issuer.signIn('ada');
    expect(token.split('.')).toHaveLength(1);
    expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 200, data: { viewer: { name: 'ada' } } });
    expect(await sendAs(postroom, `Bearer ${token}x`)).toMatchObject({ status: 401 });
    expect(await connectAs(postroom, `Bearer ${token}`)).toBe('admitted');
    expect(await connectAs(postroom, `Bearer ${token}x`)).toBe(4403);
  });

  it('are refused if the answer of the issuer has no expiry, or one that is not a number', async () => {
    const { issuer, postroom } = await launchIntrospecting();
    const later = now() + 600;
    const outcomes = [];
    for (const claims of [{ exp: later }, {}, { exp: String(later) }, { exp: null }, { exp: later, iat: 'now' }]) {
      issuer.answerIntrospections(claims);
      outcomes.push((await sendAs(postroom, `Bearer token${outcomes.length}`)).status);
    }
    expect(outcomes).toEqual([200, 401, 401, 401, 401]);
  });

  it('are not sent to the issuer if they are API keys: the error says to send an API key with the scheme ApiKey', async () => {
    const { issuer, postroom } = await launchIntrospecting();
    const key = await createKey(postroom);
    for (const sent of [key, `${key}x`]) {
      const { status, errors } = await sendAs(postroom, `Bearer ${sent}`);
      expect(status).toBe(401);
      expect(errors?.[0]?.message).toBe('This is an API key: send it as "ApiKey <key>", not as "Bearer <key>".');
    }
    expect(issuer.countIntrospections()).toBe(0);
    expect(await sendAs(postroom, `ApiKey ${key}`)).toMatchObject({ status: 200, data: { viewer: { name: 'app' } } });
  });

  it('are not called invalid when the issuer fails: 502 over HTTP, 1013 over WebSocket', async () => {
    const { issuer, postroom } = await launchIntrospecting();
    const token = await issuer.signIn('ada');
    issuer.state.isDown = true;
    expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 502, challenge: null });
    expect(await connectAs(postroom, `Bearer ${token}`)).toBe(1013);
    issuer.state.isDown = false;
    // After a failure of the issuer, the server sends no request to it for one second.
    await expect.poll(() => sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 200 });
  });
});

describe('the accepted issuer', () => {
  const root = '/.well-known/oauth-protected-resource';

  it('is published at the well-known addresses, and the challenge of a 401 links to them', async () => {
    const { issuer, postroom } = await launchBeside();
    for (const path of ['', '/graphql']) {
      const response = await fetch(`${postroom.url}${root}${path}`);
      expect(response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(await response.json()).toMatchObject({
        resource: `${postroom.url}${path}`,
        authorization_servers: [issuer.issuer],
        bearer_methods_supported: ['header'],
        scopes_supported: ['read', 'write', 'admin'],
      });
    }
    const link = `resource_metadata="${postroom.url}${root}/graphql"`;
    expect((await sendAs(postroom, 'Bearer x')).challenge).toBe(
      `Bearer realm="postroom", ${link}, error="invalid_token"`,
    );
    // RFC 6750, 3.1: a client that sent no credentials receives no error in the challenge.
    expect((await sendAs(postroom, undefined, createRoom, { name: 'x' })).challenge).toBe(
      `Bearer realm="postroom", ${link}`,
    );
  });

  it('is published under PUBLIC_URL', async () => {
    const { postroom } = await launchBeside({}, { PUBLIC_URL: 'https://rooms.example' });
    const response = await fetch(`${postroom.url}${root}/graphql`);
    expect(await response.json()).toMatchObject({ resource: 'https://rooms.example/graphql' });
    expect((await sendAs(postroom, 'Bearer x')).challenge).toContain(
      `resource_metadata="https://rooms.example${root}/graphql"`,
    );
  });

  it('is not published when no issuer is configured', async () => {
    const postroom = await launchForTest();
    for (const path of ['', '/graphql']) expect((await fetch(`${postroom.url}${root}${path}`)).status).toBe(404);
    expect((await sendAs(postroom, 'Bearer x')).challenge).toBe('Bearer realm="postroom", error="invalid_token"');
  });
});

describe('the log', () => {
  const refusals = ({ log }: Postroom) => log.filter(({ msg }) => msg === 'access token refused');

  it('gives the reason for a refused token at level debug, without any part of the token', async () => {
    const { issuer, postroom } = await launchBeside({}, { LOG_LEVEL: 'debug' });
    const stranger = (await generateKeyPair('RS256')).privateKey;
    const tokens: [reason: string, token: string][] = [
      ['wrong typ', await issuer.sign({}, { typ: 'JWT' })],
      ['wrong aud', await issuer.sign({ aud: 'urn:other' })],
      ['wrong iss', await issuer.sign({ iss: 'https://issuer.example' })],
      ['expired', await issuer.sign({ exp: now() - 1 })],
      ['no exp', await issuer.sign({ exp: undefined })],
      ['no sub', await issuer.sign({ sub: undefined })],
      ['wrong nbf', await issuer.sign({ nbf: now() + 60 })],
      ['wrong signature', await signToken({ issuer: issuer.issuer, changes: {}, header: {}, key: stranger })],
      ['unknown key', await issuer.sign({}, { kid: 'other' })],
      ['malformed', 'not.a.token'],
      ['not a JWT, and OAUTH_INTROSPECTION_URL is not set', 'garbage'],
    ];
    for (const [, token] of tokens) expect((await sendAs(postroom, `Bearer ${token}`)).status).toBe(401);
    await expect.poll(() => refusals(postroom).map(({ reason }) => reason)).toEqual(tokens.map(([reason]) => reason));
    for (const [, token] of tokens) expect(JSON.stringify(postroom.log)).not.toContain(token);
  });

  it('does not give the reason at level info', async () => {
    const { issuer, postroom } = await launchBeside({}, { LOG_LEVEL: 'info' });
    expect((await sendAs(postroom, `Bearer ${await issuer.sign({ aud: 'urn:other' })}`)).status).toBe(401);
    await postroom.stop();
    expect(postroom.log).toContainEqual(expect.objectContaining({ msg: 'credentialsRefused' }));
    expect(refusals(postroom)).toEqual([]);
  });

  it('reports once that an issuer differs from OAUTH_ISSUER, for any number of tokens', async () => {
    const issuer = await openIssuer();
    onTestFinished(() => issuer.close());
    const misspelled = `${issuer.issuer}/`;
    const postroom = await launchForTest({ OAUTH_ISSUER: misspelled, OAUTH_AUDIENCE: audience });
    const tokens = await Promise.all(['ada', 'bob', 'eve'].map((sub) => issuer.sign({ sub, iss: misspelled })));
    for (const token of tokens) expect((await sendAs(postroom, `Bearer ${token}`)).status).toBe(502);
    await postroom.stop();
    expect(postroom.log).toMatchObject([
      { level: 40, err: { message: expect.stringContaining('its issuer is not OAUTH_ISSUER') } },
    ]);
  });
});
