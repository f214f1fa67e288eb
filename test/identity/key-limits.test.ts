import { describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { inboxQuery } from '../support/inbox/inbox-stream.ts';
import { hasRedis, RedisServer } from '../support/rooms/redis-server.ts';
import {
  launchForTest,
  type Person,
  type Postroom,
  run,
  type Settings,
  scratchFolder,
} from '../support/server/postroom.ts';
import { launchWithVirtualClock, withVirtualTimers } from '../support/server/virtual-timers.ts';

const query = '{ viewer { id } }';

/** Creates API keys of a person in one operation. */
async function createKeys(postroom: Postroom, { token }: Person, count: number) {
  const fields = Array.from(
    { length: count },
    (_, n) => `k${n}: createApiKey(input: { name: "app", scopes: [READ, WRITE] }) { key apiKey { id } }`,
  );
  const created: { key: string; apiKey: { id: string } }[] = Object.values(
    await postroom.ask(`mutation { ${fields.join(' ')} }`, {}, token),
  );
  return created.map(({ key, apiKey }) => ({ authorization: `ApiKey ${key}`, id: apiKey.id }));
}

async function statusesOf(postroom: Postroom, authorizations: readonly string[], text = query): Promise<number[]> {
  const statuses = [];
  for (const authorization of authorizations) statuses.push((await sendAs(postroom, authorization, text)).status);
  return statuses;
}

describe('the API keys of one owner', () => {
  it('share one rate, however many the account creates and revokes', async () => {
    const postroom = await launchForTest({ RATE_LIMIT: '5' });
    const ada = await postroom.signUp('Ada');
    const bob = await postroom.signUp('Bob');
    const first = await createKeys(postroom, ada, 3);
    expect(
      await statusesOf(
        postroom,
        first.map(({ authorization }) => authorization),
      ),
    ).toEqual([200, 200, 200]);
    const revoke = first.map(({ id }, n) => `r${n}: revokeApiKey(input: { id: "${id}" }) { apiKey { id } }`);
    await postroom.ask(`mutation { ${revoke.join(' ')} }`, {}, ada.token);
    const next = await createKeys(postroom, ada, 4);
    const keys = next.map(({ authorization }) => authorization);
    expect(await statusesOf(postroom, keys)).toEqual([200, 200, 429, 429]);
    const [other] = await createKeys(postroom, bob, 1);
    expect(await statusesOf(postroom, [other?.authorization ?? ''])).toEqual([200]);
  });

  it('do not use up the limits of their owner, who can revoke a key that was stolen', async () => {
    const postroom = await launchForTest({ RATE_LIMIT: '3' });
    const ada = await postroom.signUp('Ada');
    const [stolen] = await createKeys(postroom, ada, 1);
    const { authorization = '', id } = stolen ?? {};
    expect(await statusesOf(postroom, Array(4).fill(authorization))).toEqual([200, 200, 200, 429]);
    await postroom.ask(`mutation { revokeApiKey(input: { id: "${id}" }) { apiKey { id } } }`, {}, ada.token);
    expect(await statusesOf(postroom, [authorization])).toEqual([401]);
  });

  it.skipIf(!hasRedis)('share the rate on all nodes (redis-server must be installed)', async () => {
    const redis = await RedisServer.launch();
    try {
      const settings: Settings = {
        DATABASE_URL: `sqlite:${scratchFolder()}/postroom.db`,
        REDIS_URL: redis.url,
        RATE_LIMIT: '5',
      };
      // A server that has waited 50 ms for Redis would count by itself.
      const launch = async () => [await launchForTest(settings), await launchForTest(settings)] as const;
      const [one, other] = await withVirtualTimers(launch, { withClock: true });
      const ada = await one.signUp('Ada');
      const keys = (await createKeys(one, ada, 3)).map(({ authorization }) => authorization);
      expect(await statusesOf(other, keys)).toEqual([200, 200, 200]);
      expect(await statusesOf(one, keys)).toEqual([200, 200, 429]);
    } finally {
      await redis.stop();
    }
  });

  it('share the pause after invalid documents', async () => {
    const postroom = await launchWithVirtualClock({ RATE_LIMIT: '100' });
    const ada = await postroom.signUp('Ada');
    const bob = await postroom.signUp('Bob');
    const keys = (await createKeys(postroom, ada, 20)).map(({ authorization }) => authorization);
    const statuses: number[] = [];
    for (const [index, key] of keys.slice(0, 12).entries())
      statuses.push(...(await statusesOf(postroom, [key], `{ nothing${index} }`)));
    expect(statuses).toEqual([...Array(11).fill(422), 429]);
    expect((await postroom.send('{ another }', {}, bob.token)).status).toBe(422);
  });

  it('share the cost of different subscriptions', async () => {
    const postroom = await launchForTest({ LIMIT_COST: '400', TRUST_PROXY: '1' });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    // Each costs 203 for an event, and together they may cost 2,000.
    const costly = `subscription ($room: ID!, $name: String) {
      roomEvents(room: $room) { cursor room { posts(first: 100, after: $name) { nodes { author { id } } } } }
    }`;
    const presence = `subscription ($room: ID!) {
      roomPresence(room: $room) { room { posts(first: 100) { nodes { author { id } } } } }
    }`;
    const keys = await createKeys(postroom, ada, 10);
    const open = (n: number) =>
      ProtocolSocket.open(postroom.webSocketUrl, {
        headers: { 'x-forwarded-for': `198.51.100.${n}` },
        init: { authorization: keys[n]?.authorization },
      });
    for (let n = 0; n < 9; n += 1) await (await open(n)).follow('e', costly, { room, name: `${n}` });
    const last = await open(9);
    for (const [id, text] of Object.entries({ costly, presence })) {
      const [error] = await last.subscribe(id, text, { room, name: 'more' }).refused;
      expect(error).toMatchObject({ extensions: { code: 'SUBSCRIPTION_LIMIT_EXCEEDED' } });
    }
  });

  it('share the inboxes that resume without a charge', async () => {
    const postroom = await launchForTest({ RATE_LIMIT: '4' });
    const ada = await postroom.signUp('Ada');
    const outcomes: string[] = [];
    for (const { authorization } of await createKeys(postroom, ada, 25)) {
      const init = { authorization, live: { seen: { i: {} } } };
      const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init });
      const { start, refused } = socket.subscribe('i', inboxQuery);
      outcomes.push(
        await Promise.race([start.then(() => 'open'), refused.then(([error]) => `${error?.extensions.code}`)]),
      );
    }
    // 20 are free.
    expect(outcomes).toEqual([...Array(24).fill('open'), 'RATE_LIMITED']);
  });
});

it('an API key without an owner has limits of its own', async () => {
  const settings = { DATABASE_URL: `sqlite:${scratchFolder()}/postroom.db`, RATE_LIMIT: '2' };
  const postroom = await launchForTest(settings);
  const create = async (name: string) => {
    const { stdout } = await run(['key', 'create', '--name', name, '--scopes', 'read'], settings);
    return `ApiKey ${stdout.trim()}`;
  };
  for (const key of [await create('one'), await create('two')])
    expect(await statusesOf(postroom, [key, key, key])).toEqual([200, 200, 429]);
});
