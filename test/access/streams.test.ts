import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { EventStream, multipartHeaders } from '../support/clients/event-stream.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { readMetrics } from '../support/engine/metrics.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { TokenMaker } from '../support/identity/tokens.ts';
import { untilCompared } from '../support/rooms/heads.ts';
import { createUnreliableBus } from '../support/rooms/unreliable-bus.ts';
import { launchForTest, type Person, type Postroom, run, scratchFolder } from '../support/server/postroom.ts';
import { advanceTime, launchWithVirtualClock } from '../support/server/virtual-timers.ts';

const events = (room: string) => `subscription { roomEvents(room: "${room}") { __typename at } }`;

async function createPrivate(postroom: Postroom, owner: Person, name: string, members: Person[] = []): Promise<string> {
  const { createRoom } = await postroom.ask(
    'mutation ($name: String!) { createRoom(input: { name: $name, visibility: PRIVATE }) { room { id } } }',
    { name },
    owner.token,
  );
  const room: string = createRoom.room.id;
  for (const member of members) await changeMember(postroom, owner, 'addRoomMember', room, member);
  return room;
}

async function changeMember(
  postroom: Postroom,
  owner: Person,
  mutation: 'addRoomMember' | 'removeRoomMember',
  room: string,
  { id }: Person,
): Promise<void> {
  await postroom.ask(
    `mutation { ${mutation}(input: { room: "${room}", user: "${id}" }) { room { id } } }`,
    {},
    owner.token,
  );
}

/** Subscribes to a room over WebSocket and over SSE. */
async function follow({ webSocketUrl, graphqlUrl }: Postroom, authorization: string | undefined, room: string) {
  const socket = await ProtocolSocket.open(webSocketUrl, { init: { authorization } });
  await socket.follow('e', events(room));
  const stream = await EventStream.open(graphqlUrl, events(room), { ...(authorization && { authorization }) });
  return { socket, stream };
}

/** The error code at the end of an event stream. */
async function endOf(stream: EventStream): Promise<string | undefined> {
  await stream.closed;
  return stream.received.findLast(({ data }) => data?.errors)?.data.errors[0].extensions.code;
}

interface Ending {
  settings: Record<string, string>;
  postroom: Postroom;
  ada: Person;
}

/** The changes that revoke credentials, and the `Authorization` header that each change revokes. */
const endings: Record<string, (ending: Ending) => Promise<{ authorization: string; end: () => Promise<unknown> }>> = {
  'a key that is revoked': async ({ postroom, ada }) => {
    const { createApiKey } = await postroom.ask(
      'mutation { createApiKey(input: { name: "app", scopes: [READ] }) { key apiKey { id } } }',
      {},
      ada.token,
    );
    const revoke = `mutation { revokeApiKey(input: { id: "${createApiKey.apiKey.id}" }) { apiKey { id } } }`;
    return { authorization: `ApiKey ${createApiKey.key}`, end: () => postroom.ask(revoke, {}, ada.token) };
  },
  'a session that another session revokes by a new password': async ({ postroom, ada }) => {
    const signIn = `mutation { signIn(input: { email: "${ada.email}", password: "${ada.password}" }) { accessToken } }`;
    const other = await postroom.ask(signIn);
    const change = `mutation { changePassword(input: { currentPassword: "${ada.password}", newPassword: "a new horse" }) { user { id } } }`;
    return { authorization: `Bearer ${ada.token}`, end: () => postroom.ask(change, {}, other.signIn.accessToken) };
  },
  'an account that is deleted': async ({ postroom, ada }) => ({
    authorization: `Bearer ${ada.token}`,
    end: () => postroom.ask(`mutation { deleteUser(input: { id: "${ada.id}" }) { user { id } } }`, {}, ada.token),
  }),
  'a role that the operator grants': async ({ settings, ada }) => ({
    authorization: `Bearer ${ada.token}`,
    end: () => run(['grant-admin', ada.id], settings),
  }),
};

describe('a client whose credentials expire or are revoked', () => {
  it.each(
    Object.entries(endings),
  )('loses its socket with 4403 and its event stream with UNAUTHENTICATED: %s', async (_, prepare) => {
    const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
    const postroom = await launchForTest(settings);
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    const room = await postroom.createRoom(bob, 'hall');
    const { authorization, end } = await prepare({ settings, postroom, ada });
    const [theirs, others] = [
      await follow(postroom, authorization, room),
      await follow(postroom, `Bearer ${bob.token}`, room),
    ];
    await end();
    expect((await theirs.socket.closed).code).toBe(4403);
    expect(await endOf(theirs.stream)).toBe('UNAUTHENTICATED');
    await postroom.createPost(bob, room, 'behind it');
    await Promise.all([others.socket.take(({ type }) => type === 'next'), others.stream.take()]);
    expect(theirs.socket.nexts('e')).toEqual([]);
  });

  it('loses them at the expiry of the token, and is notified one minute before', async () => {
    const maker = new TokenMaker();
    const postroom = await launchWithVirtualClock({ SESSION_KEY: maker.sessionKey });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const token = await maker.sign(ada.id, 30);
    const { socket, stream } = await follow(postroom, `Bearer ${token}`, room);
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    advanceTime(0);
    await socket.settle();
    const told = socket.received.find(({ payload }) => payload?.expiresAt !== undefined);
    expect(told).toEqual({ type: 'ping', payload: { expiresAt: new Date(exp * 1_000).toISOString() } });
    const leftMs = exp * 1_000 - Date.now();
    advanceTime(leftMs - 1);
    await socket.settle();
    advanceTime(1);
    expect((await socket.closed).code).toBe(4403);
    expect(await endOf(stream)).toBe('UNAUTHENTICATED');
    expect((await sendAs(postroom, `Bearer ${token}`)).status).toBe(401);
  });

  it('keeps the socket when it renews its credentials in time, any number of times', async () => {
    const maker = new TokenMaker();
    const postroom = await launchWithVirtualClock({ SESSION_KEY: maker.sessionKey });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'hall');
    const sign = (seconds: number) => maker.sign(ada.id, seconds).then((token) => `Bearer ${token}`);
    const [kept, witness] = [
      await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: await sign(30) } }),
      await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: await sign(30) } }),
    ];
    await kept.follow('e', events(room));
    for (const seconds of [30, 31, 600]) {
      kept.send({ type: 'ping', payload: { authorization: await sign(seconds) } });
      await kept.take(({ type }) => type === 'pong');
    }
    advanceTime(31_000);
    expect((await witness.closed).code).toBe(4403);
    await postroom.createPost(ada, room, 'x');
    await kept.take(({ type }) => type === 'next');
  });

  it.each([
    'bad ones',
    "another user's",
    'no text',
    'null',
  ] as const)('is closed with 4403 when its ping tries to renew them with %s', async (what) => {
    const postroom = await launchForTest();
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    const given = { 'bad ones': 'Bearer x', "another user's": `Bearer ${bob.token}`, 'no text': 1, null: null };
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${ada.token}` } });
    socket.send({ type: 'ping', payload: { authorization: given[what] } });
    expect((await socket.closed).code).toBe(4403);
  });
});

describe('when a room becomes private', () => {
  it('strangers and clients without credentials lose its streams, members keep theirs, and the sockets stay open', async () => {
    const postroom = await launchForTest();
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    const [room, other] = [await postroom.createRoom(ada, 'hall'), await postroom.createRoom(ada, 'other')];
    const outside = [await follow(postroom, `Bearer ${bob.token}`, room), await follow(postroom, undefined, room)];
    const inside = await follow(postroom, `Bearer ${ada.token}`, room);
    await outside[0]?.socket.follow('other', events(other));
    await postroom.ask(
      `mutation { updateRoom(input: { id: "${room}", visibility: PRIVATE }) { room { id } } }`,
      {},
      ada.token,
    );
    await postroom.createPost(ada, room, 'secret');
    for (const { socket, stream } of outside) {
      const { payload } = await socket.take(({ type }) => type === 'error');
      expect(payload[0].extensions.code).toBe('MEMBERSHIP_REVOKED');
      expect(await endOf(stream)).toBe('MEMBERSHIP_REVOKED');
      expect(socket.nexts('e')).toEqual([]);
      expect(stream.received.filter(({ data }) => data?.data)).toEqual([]);
    }
    await inside.socket.take(({ payload }) => payload?.data?.roomEvents.__typename === 'PostCreated');
    await postroom.createPost(ada, other, 'public');
    await outside[0]?.socket.take(({ id, type }) => id === 'other' && type === 'next');
  });
});

it('of two viewers of one group, the one who is removed between two events that are read together receives none after the removal', async () => {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`, LOG_LEVEL: 'debug' };
  const writer = await launchForTest(settings);
  const owner = await writer.signUp('owner');
  const [ada, bob] = [await writer.signUp('Ada'), await writer.signUp('Bob')];
  const room = await createPrivate(writer, owner, 'den', [ada, bob]);
  const postroom = await launchForTest(settings, { bus: createUnreliableBus('losesAll') });
  const removed = await follow(postroom, `Bearer ${ada.token}`, room);
  const kept = await follow(postroom, `Bearer ${bob.token}`, room);
  expect((await readMetrics(postroom))['groups']).toBe(1);
  await untilCompared(postroom);
  await writer.createPost(owner, room, 'before');
  await changeMember(writer, owner, 'removeRoomMember', room, ada);
  await writer.createPost(owner, room, 'after');
  const all = ['PostCreated', 'MemberLeft', 'PostCreated'];
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
  const typesOf = (results: any[]) => results.map(({ data }) => data.roomEvents.__typename);
  const resultsOf = (stream: EventStream) => stream.received.flatMap(({ data }) => (data?.data ? [data] : []));
  await expect.poll(() => typesOf(kept.socket.nexts('e'))).toEqual(all);
  await expect.poll(() => typesOf(resultsOf(kept.stream))).toEqual(all);
  const { payload } = await removed.socket.take(({ type }) => type === 'error');
  expect(payload[0].extensions.code).toBe('MEMBERSHIP_REVOKED');
  expect(await endOf(removed.stream)).toBe('MEMBERSHIP_REVOKED');
  for (const results of [removed.socket.nexts('e'), resultsOf(removed.stream)])
    expect(all.slice(0, 1)).toEqual(expect.arrayContaining(typesOf(results)));
});

describe('memberships that are revoked under load', () => {
  const roomCount = 5;
  const followersEach = 12;
  const rounds = 60;
  const batch = 20;

  it('end with MEMBERSHIP_REVOKED, and no event after the revocation is delivered', async () => {
    const postroom = await launchForTest();
    const owner = await postroom.signUp('owner');
    const members = await Promise.all(Array.from({ length: 6 }, (_, index) => postroom.signUp(`m${index}`)));
    const rooms: string[] = [];
    for (let index = 0; index < roomCount; index += 1)
      rooms.push(await createPrivate(postroom, owner, `den ${index}`, members));
    const query = (room: string) =>
      `subscription { roomEvents(room: "${room}") { __typename ... on MemberLeft { user { id } } } }`;
    const followers = await Promise.all(
      rooms.flatMap((room) =>
        Array.from({ length: followersEach }, async (_, index) => {
          const member = members[index % members.length] ?? owner;
          const headers = { authorization: `Bearer ${member.token}` };
          if (index >= members.length) {
            const form = index % 2 ? multipartHeaders : {};
            const stream = await EventStream.open(postroom.graphqlUrl, query(room), { ...headers, ...form });
            return { room, member, stream, socket: undefined };
          }
          const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: headers });
          await socket.follow('e', query(room));
          return { room, member, socket, stream: undefined };
        }),
      ),
    );
    const seqOf = (cursor: string) => Number(Buffer.from(cursor, 'base64url').toString().split('.')[1]);
    const witnesses = new Map<string, ProtocolSocket>();
    for (const room of rooms) {
      const socket = await ProtocolSocket.open(postroom.webSocketUrl, {
        init: { authorization: `Bearer ${owner.token}` },
      });
      await socket.follow('e', query(room));
      witnesses.set(room, socket);
    }
    // All members but the last are removed from every room, while posts are created.
    const removed = members.slice(0, -1);
    const posting = (async () => {
      for (let round = 0; round < rounds; round += 1) {
        const room = rooms[round % rooms.length] ?? '';
        const posts = Array.from(
          { length: batch },
          (_, n) => `p${n}: createPost(input: { room: "${room}", title: "t" }) { post { id } }`,
        );
        await postroom.ask(`mutation { ${posts.join(' ')} }`, {}, owner.token);
      }
    })();
    const revoking = (async () => {
      for (const member of removed) {
        for (const room of rooms) await changeMember(postroom, owner, 'removeRoomMember', room, member);
      }
    })();
    await Promise.all([posting, revoking]);
    for (const room of rooms) await postroom.createPost(owner, room, 'last');

    // The owner's subscriptions received the position at which each member was removed.
    const leftAt = new Map<string, number>();
    const perRoom = (rounds / roomCount) * batch + removed.length + 1;
    for (const [room, socket] of witnesses) {
      while (socket.nexts('e').length < perRoom) await socket.take(({ type }) => type === 'next');
      for (const { data, extensions } of socket.nexts('e')) {
        if (data.roomEvents.__typename !== 'MemberLeft') continue;
        leftAt.set(`${room} ${data.roomEvents.user.id}`, seqOf(extensions.live.cursor));
      }
    }
    let late = 0;
    let delivered = 0;
    const ends: (string | undefined)[] = [];
    for (const { room, member, socket, stream } of followers) {
      const end = leftAt.get(`${room} ${member.id}`);
      if (end === undefined) continue;
      if (socket) {
        const last = await socket.take(({ type }) => type === 'error');
        await socket.settle();
        ends.push(last.payload[0].extensions.code);
      } else ends.push(await endOf(stream));
      const results = socket ? socket.nexts('e') : stream.received.flatMap(({ data }) => (data?.data ? [data] : []));
      delivered += results.length;
      late += results.filter(({ extensions }) => seqOf(extensions.live.cursor) >= end).length;
    }
    expect(leftAt.size).toBe(removed.length * roomCount);
    expect(ends).toEqual(Array.from({ length: 2 * removed.length * roomCount }, () => 'MEMBERSHIP_REVOKED'));
    expect(delivered).toBeGreaterThan(0);
    expect(late).toBe(0);
  }, 60_000);
});
