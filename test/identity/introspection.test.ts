import { describe, expect, it, onTestFinished } from 'vitest';
import { post } from '../support/clients/http.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { openIssuer } from '../support/identity/issuer.ts';
import { launchWithMovingClock, moveClock } from '../support/server/moved-server.ts';
import type { Postroom, Settings } from '../support/server/postroom.ts';
import { follow, lastErrorCodeOf } from '../support/server/stream-fixture.ts';

/* Opaque tokens: only the issuer knows whether they are valid. */

async function openOpaqueIssuer() {
  const issuer = await openIssuer({ format: 'opaque' });
  onTestFinished(() => issuer.close());
  return issuer;
}

async function createRoom(postroom: Postroom, authorization: string): Promise<string> {
  const create = 'mutation { createRoom(input: { name: "hall" }) { room { id } } }';
  return (await sendAs(postroom, authorization, create)).data.createRoom.room.id;
}

describe('a token that its issuer revokes while streams are open', () => {
  async function launchWithStreams() {
    const issuer = await openOpaqueIssuer();
    const postroom = await launchWithMovingClock(issuer.settings);
    const [revoked, other] = [await issuer.signIn('ada'), await issuer.signIn('ada')];
    const room = await createRoom(postroom, `Bearer ${revoked}`);
    const ended = await follow(postroom, room, `Bearer ${revoked}`);
    const kept = await follow(postroom, room, `Bearer ${other}`);
    const postByOther = async () => {
      const create = `mutation { createPost(input: { room: "${room}", title: "x" }) { post { id } } }`;
      expect((await sendAs(postroom, `Bearer ${other}`, create)).status).toBe(200);
    };
    return { issuer, postroom, revoked, ended, kept, postByOther };
  }

  it('closes its WebSockets with 4403 and ends its streams with UNAUTHENTICATED, after one request for each token; streams of other tokens continue', async () => {
    const { issuer, postroom, revoked, ended, kept, postByOther } = await launchWithStreams();
    const asked = issuer.countIntrospections();
    await issuer.revoke(revoked);
    await moveClock(postroom);
    for (const socket of ended.sockets) expect((await socket.closed).code).toBe(4403);
    for (const stream of ended.streams) expect(await lastErrorCodeOf(stream)).toBe('UNAUTHENTICATED');
    await expect.poll(() => issuer.countIntrospections() - asked).toBe(2);
    // The answers about open streams are cached for requests, too.
    expect((await sendAs(postroom, `Bearer ${revoked}`)).status).toBe(401);
    await postByOther();
    for (const socket of kept.sockets) await socket.take(({ type }) => type === 'next');
    for (const stream of kept.streams) await stream.take(({ event }) => event === 'next');
    expect(issuer.countIntrospections() - asked).toBe(2);
  });

  it('ends nothing while the issuer fails, and ends its streams when the issuer answers again', async () => {
    const { issuer, postroom, revoked, ended, kept } = await launchWithStreams();
    await issuer.revoke(revoked);
    issuer.state.isDown = true;
    await moveClock(postroom);
    await expect
      .poll(() => postroom.log)
      .toContainEqual(expect.objectContaining({ msg: 'the issuer of access tokens fails' }));
    for (const socket of [...ended.sockets, ...kept.sockets]) await socket.settle();
    issuer.state.isDown = false;
    await moveClock(postroom);
    for (const socket of ended.sockets) expect((await socket.closed).code).toBe(4403);
    for (const stream of ended.streams) expect(await lastErrorCodeOf(stream)).toBe('UNAUTHENTICATED');
    for (const socket of kept.sockets) await socket.settle();
  });
});

describe('an address that sends many tokens that the issuer refuses', () => {
  const [guesser, stranger] = ['192.0.2.1', '192.0.2.2'];

  async function sendFrom(postroom: Postroom, address: string, token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address };
    return (await post(postroom, '{ viewer { id } }', { headers })).status;
  }

  const settings: Settings = { TRUST_PROXY: '1' };
  let guessCount = 0;
  const guess = (postroom: Postroom, count: number, onStatus: (status: number) => void = () => {}) =>
    Promise.all(
      Array.from({ length: count }, async () => {
        guessCount += 1;
        const status = await sendFrom(postroom, guesser, `guess-${guessCount}`);
        onStatus(status);
        return status;
      }),
    );
  const tally = (statuses: number[]) =>
    Object.fromEntries(
      [...new Set(statuses)].map((status) => [status, statuses.filter((one) => one === status).length]),
    );

  it('receives 429 without a request to the issuer, but a token that was valid is still accepted, and so is any token from another address', async () => {
    const issuer = await openOpaqueIssuer();
    const limits = { RATE_LIMIT: '20', RATE_WINDOW_SECONDS: '3600' };
    const postroom = await launchWithMovingClock({ ...issuer.settings, ...settings, ...limits });
    const [known, unknown] = [await issuer.signIn('ada'), await issuer.signIn('bob')];
    expect(await sendFrom(postroom, guesser, known)).toBe(200);
    const asked = issuer.countIntrospections();
    expect(new Set(await guess(postroom, 80))).toEqual(new Set([401, 429]));
    // Up to ten wait for the answer of the issuer when the limit is reached.
    const sent = issuer.countIntrospections() - asked;
    expect(sent).toBeLessThan(20 + 10);
    expect(tally(await guess(postroom, 80))).toEqual({ 429: 80 });
    expect(issuer.countIntrospections() - asked).toBe(sent);
    expect(await sendFrom(postroom, guesser, unknown)).toBe(429);
    expect(await sendFrom(postroom, stranger, unknown)).toBe(200);
    await moveClock(postroom);
    expect(await sendFrom(postroom, guesser, known)).toBe(200);
    expect(issuer.countIntrospections() - asked).toBe(sent + 2);
  });

  it('has ten of them with the issuer and a hundred that wait; a token that was valid and a token from another address do not wait for them', async () => {
    const issuer = await openOpaqueIssuer();
    const postroom = await launchWithMovingClock({ ...issuer.settings, ...settings });
    const [known, unknown] = [await issuer.signIn('ada'), await issuer.signIn('bob')];
    expect(await sendFrom(postroom, guesser, known)).toBe(200);
    await moveClock(postroom);
    const asked = issuer.countIntrospections();
    const release = issuer.holdIntrospections();
    const statuses: number[] = [];
    const guesses = guess(postroom, 150, (status) => statuses.push(status));
    await expect.poll(() => statuses).toEqual(Array(40).fill(503));
    await expect.poll(() => issuer.countIntrospections() - asked).toBe(10);
    const accepted = Promise.all([sendFrom(postroom, guesser, known), sendFrom(postroom, stranger, unknown)]);
    await expect.poll(() => issuer.countIntrospections() - asked).toBe(12);
    release();
    expect(await accepted).toEqual([200, 200]);
    expect(tally(await guesses)).toEqual({ 401: 110, 503: 40 });
    expect(issuer.countIntrospections() - asked).toBe(112);
  });
});
