import { describe, expect, it } from 'vitest';
import { recommendedCost } from '../../src/identity/session/passwords.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { withDatabaseLocked } from '../support/server/shared-server.ts';
import {
  createKey,
  eventsOf,
  follow,
  lastErrorCodeOf,
  launchStreamFixture,
  type StreamFixture,
  signIn,
} from '../support/server/stream-fixture.ts';

/* After a revocation is committed, no later event is delivered. */

const behind = Array.from({ length: 5 }, (_, index) => `b${index}`);

interface Ending {
  authorization: string;
  /** The mutation that revokes the credentials, and the token of its sender. */
  end: string;
  by: string;
}

const endings: Record<string, (world: StreamFixture) => Promise<Ending>> = {
  'a key that is revoked': async (world) => {
    const { key, id } = await createKey(world);
    return {
      authorization: `ApiKey ${key}`,
      end: `revokeApiKey(input: { id: "${id}" }) { apiKey { id } }`,
      by: world.ada.token,
    };
  },
  'a session that another session revokes by a new password': async ({ postroom, ada }) => ({
    authorization: `Bearer ${ada.token}`,
    end: `changePassword(input: { currentPassword: "${ada.password}", newPassword: "a new horse" }) { user { id } }`,
    by: await signIn(postroom, ada),
  }),
  'an account that is deleted': async ({ ada, owner }) => ({
    authorization: `Bearer ${ada.token}`,
    end: `deleteUser(input: { id: "${ada.id}" }) { user { id } }`,
    by: owner.token,
  }),
  'a key of an account that is deleted': async (world) => ({
    authorization: `ApiKey ${(await createKey(world)).key}`,
    end: `deleteUser(input: { id: "${world.ada.id}" }) { user { id } }`,
    by: world.owner.token,
  }),
};

const posts = (room: string) =>
  behind
    .map((title) => `${title}: createPost(input: { room: "${room}", title: "${title}" }) { post { id } }`)
    .join(' ');

describe('after credentials have expired or been revoked', () => {
  it.each(
    Object.entries(endings),
  )('no event is delivered, not even an event of the same request: %s', async (_, prepare) => {
    const world = await launchStreamFixture();
    const { authorization, end, by } = await prepare(world);
    const { postroom, room, owner } = world;
    const theirs = await follow(postroom, room, authorization);
    const others = await follow(postroom, room, `Bearer ${owner.token}`);
    await postroom.ask(`mutation { ${end} ${posts(room)} }`, {}, by);
    for (const socket of theirs.sockets) {
      expect((await socket.closed).code).toBe(4403);
      expect(socket.nexts('e')).toEqual([]);
    }
    for (const stream of theirs.streams) {
      expect(await lastErrorCodeOf(stream)).toBe('UNAUTHENTICATED');
      expect(eventsOf(stream)).toEqual([]);
    }
    const isLast = (data: { roomEvents: { post?: { title: string } } } | undefined) =>
      data?.roomEvents.post?.title === behind.at(-1);
    for (const socket of others.sockets) await socket.take(({ payload }) => isLast(payload?.data));
    for (const stream of others.streams) await stream.take(({ data }) => isLast(data?.data));
  });

  it('a socket that was admitted while the revocation of its key was queued is closed once the revocation is committed', async () => {
    const world = await launchStreamFixture({ LOG_LEVEL: 'debug' });
    const { postroom, file, ada } = world;
    const { key, id } = await createKey(world);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: false });
    const countStatements = (part: string) =>
      postroom.log.filter(({ sql }) => typeof sql === 'string' && sql.includes(part)).length;
    const looks = () => countStatements('from "apiKeys" where "hash"');
    const before = looks();
    const revoking = await withDatabaseLocked(file, async () => {
      // The revocation waits for the write lock; the key is valid until the revocation is committed.
      const begun = countStatements('begin immediate');
      const revoke = `mutation { revokeApiKey(input: { id: "${id}" }) { apiKey { id } } }`;
      const sent = postroom.ask(revoke, {}, ada.token);
      await expect.poll(() => countStatements('begin immediate'), { interval: 5 }).toBeGreaterThan(begun);
      socket.send({ type: 'connection_init', payload: { authorization: `ApiKey ${key}` } });
      await expect.poll(looks, { interval: 5 }).toBe(before + 1);
      expect(await socket.take()).toMatchObject({ type: 'connection_ack' });
      return { sent };
    });
    await revoking.sent;
    expect((await socket.closed).code).toBe(4403);
    expect(socket.received).toEqual([{ type: 'connection_ack' }]);
    expect((await sendAs(postroom, `ApiKey ${key}`)).status).toBe(401);
  });

  it('a key that is revoked while its request runs makes no further change', async () => {
    const { postroom, ada, room } = await launchStreamFixture({}, { passwordCost: recommendedCost });
    const make = 'mutation { createApiKey(input: { name: "app", scopes: [READ, WRITE] }) { key apiKey { id } } }';
    const { createApiKey } = await postroom.ask(make, {}, ada.token);
    // Password hashing makes each sign-up slow, so that the key can be revoked before the last mutation runs.
    const signUps = Array.from(
      { length: 20 },
      (_, n) => `n${n}: signUp(input: { name: "new", email: "n${n}@x.org", password: "long enough" }) { expiresAt }`,
    );
    const writing = sendAs(
      postroom,
      `ApiKey ${createApiKey.key}`,
      `mutation { ${signUps.join(' ')} createPost(input: { room: "${room}", title: "too late" }) { post { id } } }`,
    );
    const count = async () =>
      (await postroom.ask('{ users(filter: { name: "new" }) { pagination { total } } }')).users.pagination.total;
    await expect.poll(count, { interval: 5 }).toBeGreaterThan(0);
    const revoke = `mutation { revokeApiKey(input: { id: "${createApiKey.apiKey.id}" }) { apiKey { id } } }`;
    await postroom.ask(revoke, {}, ada.token);
    expect(await writing).toMatchObject({
      status: 294,
      errors: [{ path: ['createPost'], extensions: { code: 'UNAUTHENTICATED' } }],
    });
    expect(await postroom.ask('{ posts(filter: { title: "too late" }) { data { id } } }')).toEqual({
      posts: { data: [] },
    });
  });
});
