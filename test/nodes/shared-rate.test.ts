import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import WebSocket from 'ws';
import { findFreePort } from '../../scripts/free-port.ts';
import { post } from '../support/clients/http.ts';
import { hasRedis, RedisServer } from '../support/rooms/redis-server.ts';
import { launchForTest, type Postroom, type Settings, scratchFolder } from '../support/server/postroom.ts';
import { pollWhileTimePasses, withVirtualTimers } from '../support/server/virtual-timers.ts';

/*
 * Servers share the rate of operations through a Redis server of the test. A server that has waited 50 ms for Redis counts by
 * itself: with virtual timers it waits as long as a busy machine needs.
 */

const query = '{ viewer { id } }';
const down = 'Redis does not answer: each node counts the rate of operations by itself';
const up = 'Redis answers again: all nodes share the rate of operations';

const notesOf = ({ log }: Postroom) =>
  log.flatMap(({ msg }) => (typeof msg === 'string' && /^Redis /.test(msg) ? [msg] : []));

async function askAs(postroom: Postroom, address: string) {
  const { status, headers } = await post(postroom, query, { headers: { 'x-forwarded-for': address } });
  const [, remaining] = /r=(\d+)/.exec(String(headers['ratelimit'])) ?? [];
  return { status, remaining: Number(remaining), retryAfter: headers['retry-after'] };
}

describe.skipIf(!hasRedis)('two servers with REDIS_URL (redis-server must be installed)', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await RedisServer.launch();
  });
  afterAll(() => redis.stop());

  async function launchTwo(settings: Settings = {}) {
    const own = {
      DATABASE_URL: `sqlite:${scratchFolder()}/postroom.db`,
      REDIS_URL: redis.url,
      TRUST_PROXY: '1',
      ...settings,
    };
    const launch = async () => [await launchForTest(own), await launchForTest(own)] as const;
    return withVirtualTimers(launch, { withClock: true });
  }

  it('allow exactly the limit in a burst over both', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '20' });
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => askAs(n % 2 ? one : other, '192.0.2.1')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
    for (const { status, retryAfter } of replies) if (status !== 200) expect(retryAfter).toMatch(/^[1-9]\d*$/);
    expect((await askAs(one, '192.0.2.2')).status).toBe(200);
  });

  it('report the rate that remains on both together', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '4' });
    const remaining = [];
    for (const postroom of [one, other, other, one]) remaining.push((await askAs(postroom, '192.0.2.1')).remaining);
    expect(remaining).toEqual([3, 2, 1, 0]);
  });

  it('begin a new window together', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '2', RATE_WINDOW_SECONDS: '2' });
    // Redis measures the window in real time: a busy machine may need more than one.
    while ((await askAs(one, '192.0.2.1')).status !== 429);
    for (const postroom of [other, one])
      await pollWhileTimePasses(async () => (await askAs(postroom, '192.0.2.1')).status).toBe(200);
  });

  it('charge WebSocket operations and refused credentials to the same rate', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '3', TRUST_PROXY: '0' });
    const client = createClient({ url: one.webSocketUrl, webSocketImpl: WebSocket, lazy: false });
    onTestFinished(() => void client.dispose());
    const ask = () =>
      new Promise((resolve) => {
        client.subscribe({ query }, { next: resolve, error: resolve, complete: () => {} });
      });
    expect(await ask()).toEqual({ data: { viewer: null } });
    expect((await other.send(query)).status).toBe(200);
    expect(await other.send(query, {}, 'no-such-token')).toMatchObject({ status: 401 });
    expect(await ask()).toMatchObject([{ extensions: { code: 'RATE_LIMITED', retryAfterMs: expect.any(Number) } }]);
    expect(await other.send(query, {}, 'no-such-token')).toMatchObject({ status: 429 });
    expect(await other.send(query)).toMatchObject({ status: 429 });
  });

  it('keep two users apart, and count a user on both servers', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '4' });
    const ada = await one.signUp('Ada');
    const bob = await other.signUp('Bob');
    const statuses = [];
    for (const postroom of [one, other, one, other, one])
      statuses.push((await postroom.send(query, {}, ada.token)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 429]);
    expect((await one.send(query, {}, bob.token)).status).toBe(200);
  });

  it('answer with their own counts while Redis is stopped, without an error and never without a limit', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '10' });
    for (let n = 0; n < 6; n += 1) await askAs(n % 2 ? one : other, '192.0.2.1');
    await redis.stop();
    // Each server continues with the count that it knew.
    for (const postroom of [one, other]) {
      const statuses = [];
      for (let n = 0; n < 8; n += 1) statuses.push((await askAs(postroom, '192.0.2.1')).status);
      const allowed = statuses.indexOf(429);
      expect(allowed).toBeGreaterThanOrEqual(4);
      expect(allowed).toBeLessThanOrEqual(5);
      expect(statuses).toEqual([...Array(allowed).fill(200), ...Array(8 - allowed).fill(429)]);
      await expect.poll(() => notesOf(postroom)).toEqual([down]);
    }
    await redis.start();
    for (const postroom of [one, other]) await pollWhileTimePasses(() => notesOf(postroom)).toEqual([down, up]);
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => askAs(n % 2 ? one : other, '192.0.2.9')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  });

  it('answer while Redis hangs: only the first requests wait, and only briefly', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '100' });
    redis.signal('SIGSTOP');
    onTestFinished(() => redis.signal('SIGCONT'));
    for (const postroom of [one, other]) {
      const first = askAs(postroom, '192.0.2.1');
      await pollWhileTimePasses(() => notesOf(postroom)).toEqual([down]);
      expect((await first).status).toBe(200);
    }
    // No request waits from now on: no time passes.
    for (let n = 0; n < 40; n += 1) expect((await askAs(n % 2 ? one : other, '192.0.2.1')).status).toBe(200);
    // A server that starts meanwhile serves, too.
    let late: Postroom | undefined;
    const launching = launchForTest({ REDIS_URL: redis.url, RATE_LIMIT: '5', TRUST_PROXY: '1' }).then((launched) => {
      late = launched;
      return launched;
    });
    await pollWhileTimePasses(() => late).toBeDefined();
    expect((await askAs(await launching, '192.0.2.1')).status).toBe(200);
    redis.signal('SIGCONT');
    for (const postroom of [one, other, await launching])
      await pollWhileTimePasses(() => notesOf(postroom)).toEqual([down, up]);
    // The server that was launched last is stopped first.
    vi.useRealTimers();
  });

  it('share the rate again after FLUSHALL, SCRIPT FLUSH and CLIENT KILL', async () => {
    const [one, other] = await launchTwo({ RATE_LIMIT: '10' });
    await askAs(one, '192.0.2.1');
    for (const command of [['FLUSHALL'], ['SCRIPT', 'FLUSH'], ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes']]) {
      await redis.send(...command);
      const statuses = [];
      for (const postroom of [one, other]) statuses.push((await askAs(postroom, '192.0.2.1')).status);
      expect(statuses).toEqual([200, 200]);
    }
    for (const postroom of [one, other]) await pollWhileTimePasses(() => notesOf(postroom).at(-1) ?? up).toBe(up);
    const replies = await Promise.all(Array.from({ length: 40 }, (_, n) => askAs(n % 2 ? one : other, '192.0.2.9')));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  });
});

describe.skipIf(!hasRedis)('a server whose Redis is not reachable', () => {
  it('starts, logs it once without the password, and limits by itself', async () => {
    const url = `redis://ada:hushed@127.0.0.1:${await findFreePort()}`;
    const postroom = await launchForTest({ REDIS_URL: url, RATE_LIMIT: '3' });
    const statuses = [];
    for (let n = 0; n < 5; n += 1) statuses.push((await postroom.send(query)).status);
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
    expect(notesOf(postroom)).toEqual([down]);
    expect(JSON.stringify(postroom.log)).not.toContain('hushed');
  });
});
