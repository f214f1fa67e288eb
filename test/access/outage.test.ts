// Runs on SQLite and on PostgreSQL.
import { describe, expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import { openIssuer } from '../support/identity/issuer.ts';
import { launchWithMovingClock, moveClock } from '../support/server/moved-server.ts';
import type { Postroom } from '../support/server/postroom.ts';

/* The issuer is down for five minutes. The tests advance the server's clock instead of waiting. */

async function launchBeside(format: 'jwt' | 'opaque') {
  const issuer = await openIssuer({ format });
  onTestFinished(() => issuer.close());
  return { issuer, postroom: await launchWithMovingClock(issuer.settings) };
}

const statusOf = async (postroom: Postroom, token: string) => (await sendAs(postroom, `Bearer ${token}`)).status;

describe('while the issuer is down for five minutes', () => {
  it('tokens signed with cached keys are accepted until they expire, their sockets stay open, and other tokens are not called invalid', async () => {
    const { issuer, postroom } = await launchBeside('jwt');
    const now = Math.floor(Date.now() / 1_000);
    const lasting = await issuer.sign({ exp: now + 700 });
    const brief = await issuer.sign({ exp: now + 200 });
    expect(await statusOf(postroom, lasting)).toBe(200);
    expect(await statusOf(postroom, brief)).toBe(200);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${lasting}` } });
    const asked = issuer.countRequests('/');
    issuer.state.isDown = true;
    await moveClock(postroom);

    const unseen = await issuer.sign({ exp: now + 700, sub: 'bob' });
    const strange = await issuer.sign({ exp: now + 700 }, { kid: 'next-key' });
    for (const token of [lasting, unseen]) {
      expect(await statusOf(postroom, token)).toBe(200);
      expect(await connectAs(postroom, `Bearer ${token}`)).toBe('admitted');
    }
    // An expired token is refused without a request to the issuer.
    expect(await statusOf(postroom, brief)).toBe(401);
    expect(await sendAs(postroom, `Bearer ${strange}`)).toMatchObject({ status: 502, challenge: null });
    expect(await connectAs(postroom, `Bearer ${strange}`)).toBe(1013);
    await socket.settle();
    expect(issuer.countRequests('/') - asked).toBe(1);
  });

  it('few requests are sent to it: of many tokens that only the issuer can check, one is sent until the issuer is up again', async () => {
    const { issuer, postroom } = await launchBeside('jwt');
    issuer.state.isDown = true;
    const exp = Math.floor(Date.now() / 1_000) + 1_200;
    const tokens = await Promise.all(Array.from({ length: 50 }, (_, index) => issuer.sign({ exp, sub: `u${index}` })));
    const started = Date.now();
    const replies = await Promise.all(tokens.map((token) => statusOf(postroom, token)));
    for (const token of tokens) replies.push(await statusOf(postroom, token));
    expect(new Set(replies)).toEqual(new Set([502]));
    // After a failure, the server sends at most one request per second to the issuer.
    const seconds = Math.ceil((Date.now() - started) / 1_000);
    expect(issuer.countRequests('/')).toBeLessThanOrEqual(1 + seconds);
    // The server logs at most one warning per minute.
    const warnings = () => postroom.log.filter(({ level }) => level === 40);
    const fails = expect.objectContaining({ msg: 'the issuer of access tokens fails', err: expect.anything() });
    expect(warnings()).toEqual([fails]);
    await moveClock(postroom);
    expect(await statusOf(postroom, tokens[0] ?? '')).toBe(502);
    await expect.poll(warnings).toEqual([fails, fails]);
    issuer.state.isDown = false;
    await moveClock(postroom);
    expect(await statusOf(postroom, tokens[0] ?? '')).toBe(200);
  });

  it('the same holds for opaque tokens: tokens that the issuer must check wait for it, and are not called invalid', async () => {
    const { issuer, postroom } = await launchBeside('opaque');
    const tokens = [await issuer.signIn('ada'), await issuer.signIn('bob')];
    for (const token of tokens) expect(await statusOf(postroom, token)).toBe(200);
    const asked = issuer.countIntrospections();
    issuer.state.isDown = true;
    // The results of the introspections are cached.
    for (const token of tokens) expect(await statusOf(postroom, token)).toBe(200);
    expect(issuer.countIntrospections()).toBe(asked);
    await moveClock(postroom);
    const started = Date.now();
    for (let round = 0; round < 30; round += 1) {
      for (const token of [...tokens, `unknown-${round}`]) expect(await statusOf(postroom, token)).toBe(502);
    }
    const seconds = Math.ceil((Date.now() - started) / 1_000);
    expect(issuer.countIntrospections() - asked).toBeLessThanOrEqual(1 + seconds);
    issuer.state.isDown = false;
    await moveClock(postroom);
    expect(await statusOf(postroom, tokens[0] ?? '')).toBe(200);
    // The result of an introspection is also cached if the token is not active.
    const before = issuer.countIntrospections();
    for (let round = 0; round < 5; round += 1) expect(await statusOf(postroom, 'unknown')).toBe(401);
    expect(issuer.countIntrospections() - before).toBe(1);
  });
});

it('when the issuer publishes no keys, the issuer is at fault: a token is not called invalid, and is accepted once there are keys', async () => {
  const { issuer, postroom } = await launchBeside('jwt');
  issuer.state.givesNoKeys = true;
  const token = await issuer.sign();
  expect(await sendAs(postroom, `Bearer ${token}`)).toMatchObject({ status: 502, challenge: null });
  expect(await connectAs(postroom, `Bearer ${token}`)).toBe(1013);
  issuer.state.givesNoKeys = false;
  expect(await statusOf(postroom, token)).toBe(200);
});
