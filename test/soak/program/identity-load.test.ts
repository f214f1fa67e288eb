import { join } from 'node:path';
import { expect, it } from 'vitest';
import { EventStream } from '../../support/clients/event-stream.ts';
import { ProtocolSocket } from '../../support/clients/protocol-socket.ts';
import { writeMembers } from '../../support/database/rows.ts';
import { TokenMaker } from '../../support/identity/tokens.ts';
import { seqOf } from '../../support/rooms/cursors.ts';
import { createRandom } from '../../support/rooms/unreliable-bus.ts';
import {
  launchProcessForTest,
  type Person,
  type PostroomProcess,
  scratchFolder,
} from '../../support/server/postroom.ts';

const roomCount = 10;
/**
 * Each room has 100 subscribers: 85 users, of which 10 have tokens that expire soon, and 15 applications. Every tenth
 * subscriber uses SSE.
 */
const peopleEach = 85;
const briefEach = 10;
const keysEach = 15;
const streamEvery = 10;
/** One post in each of the ten rooms every 50 ms: 200 events per second. */
const roundMs = 50;
const rounds = 120;
/** The number of memberships removed and of API keys revoked in each round. */
const removedEach = 4;
const revokedEach = 1;

/** The reason why a subscription ends; `stays` means that it does not end. */
type Fate = 'removed' | 'revoked' | 'expired' | 'stays';

class Follower {
  readonly room: string;
  readonly userId: string;
  /** Set only for a subscriber that uses an API key. */
  readonly keyId: string | undefined;
  readonly keyOwner: Person | undefined;
  /** Whether the token expires during the load. */
  readonly isBrief: boolean;
  authorization: string;
  /** The time when the credentials expire, in milliseconds since 1970. */
  expiresAt = Number.POSITIVE_INFINITY;
  readonly seqs: number[] = [];
  /** The latest `at` of the received events, in milliseconds since 1970. */
  latest = 0;
  ended: { how: string; at: number } | undefined;
  fate: Fate = 'stays';
  /** The time when the removal or revocation was acknowledged, in milliseconds since 1970. */
  doneAt = 0;

  constructor(
    room: string,
    userId: string,
    { keyId, keyOwner, isBrief = false, authorization = '' }: Partial<Follower>,
  ) {
    this.room = room;
    this.userId = userId;
    this.keyId = keyId;
    this.keyOwner = keyOwner;
    this.isBrief = isBrief;
    this.authorization = authorization;
  }

  take({ data, errors, extensions }: Result): void {
    if (errors) return this.end(errors[0]?.extensions.code ?? '');
    this.seqs.push(seqOf(extensions?.live.cursor ?? ''));
    this.latest = Math.max(this.latest, Date.parse(data?.roomEvents.at ?? ''));
  }

  end(how: string): void {
    this.ended ??= { how, at: Date.now() };
  }
}

interface Result {
  data?: { roomEvents: { at: string } };
  errors?: { extensions: { code: string } }[];
  extensions?: { live: { cursor: string } };
}

const query = (room: string) => `subscription { roomEvents(room: "${room}") { at } }`;

async function followBySocket({ webSocketUrl }: PostroomProcess, follower: Follower): Promise<void> {
  const { authorization } = follower;
  const socket = await ProtocolSocket.open(webSocketUrl, { init: { authorization } });
  await socket.follow('e', query(follower.room));
  socket.onMessage = ({ type, payload }) => {
    if (type === 'next') follower.take(payload);
    if (type === 'error') follower.take({ errors: payload });
  };
  void socket.closed.then(({ code }) => follower.end(String(code)));
}

async function followByStream({ graphqlUrl }: PostroomProcess, follower: Follower): Promise<void> {
  const { authorization } = follower;
  const stream = await EventStream.open(graphqlUrl, query(follower.room), { authorization });
  stream.onEvent = ({ data }) => data && follower.take(data);
  void stream.closed.then(() => follower.end('closed'));
}

/** Sends several mutations in one request, in order. Returns the payload of each. */
async function change(postroom: PostroomProcess, fields: readonly string[], { token }: Person) {
  const payloads = await postroom.ask(
    `mutation { ${fields.map((field, n) => `m${n}: ${field}`).join(' ')} }`,
    {},
    token,
  );
  return fields.map((_, n) => payloads[`m${n}`]);
}

const addMember = (room: string, user: string) =>
  `addRoomMember(input: { room: "${room}", user: "${user}" }) { room { id } }`;
const createPost = (room: string, title: string) =>
  `createPost(input: { room: "${room}", title: "${title}" }) { post { id } }`;

interface Load {
  postroom: PostroomProcess;
  owner: Person;
  tokens: TokenMaker;
  file: string;
}

/** Creates a private room and its subscribers. */
async function createFollowers({ postroom, owner, file }: Load, name: string, keyOwner: Person): Promise<Follower[]> {
  const create = `createRoom(input: { name: "${name}", visibility: PRIVATE }) { room { id } }`;
  const [made] = await change(postroom, [create], owner);
  const room: string = made.room.id;
  const joined = Array.from({ length: peopleEach }, (_, n) => n);
  const people = writeMembers(file, room, joined).map((id, n) => new Follower(room, id, { isBrief: n < briefEach }));
  const key = 'createApiKey(input: { name: "app", scopes: [READ] }) { key apiKey { id user { id } } }';
  const keys = await change(postroom, Array(keysEach).fill(key), keyOwner);
  const applications = keys.map(
    ({ key, apiKey }) =>
      new Follower(room, apiKey.user.id, { keyId: apiKey.id, keyOwner, authorization: `ApiKey ${key}` }),
  );
  await change(
    postroom,
    applications.map(({ userId }) => addMember(room, userId)),
    owner,
  );
  return [...people, ...applications];
}

/** Connects the subscribers: every tenth subscriber over SSE, the others over WebSocket. */
async function connect({ postroom, tokens }: Load, followers: readonly Follower[], secondsOf: (n: number) => number) {
  const connecting = followers.map(async (follower, n) => {
    const seconds = secondsOf(n);
    if (follower.isBrief) follower.expiresAt = (Math.ceil(Date.now() / 1_000) + seconds) * 1_000;
    follower.authorization ||= `Bearer ${await tokens.sign(follower.userId, seconds)}`;
    await (n % streamEvery === 0 ? followByStream : followBySocket)(postroom, follower);
  });
  await Promise.all(connecting);
}

/** Subscribes to the room's events as its owner. */
async function witness({ webSocketUrl }: PostroomProcess, { token }: Person, room: string): Promise<ProtocolSocket> {
  const socket = await ProtocolSocket.open(webSocketUrl, { init: { authorization: `Bearer ${token}` } });
  await socket.follow(
    'w',
    `subscription { roomEvents(room: "${room}") { ... on PostCreated { post { title } } ... on MemberLeft { user { id } } } }`,
  );
  return socket;
}

it('1,000 subscribers of ten rooms receive no event after their membership, key or token has expired or been revoked', async ({
  annotate,
}) => {
  const file = join(scratchFolder(), 'postroom.db');
  const tokens = new TokenMaker();
  const settings = { DATABASE_URL: `sqlite:${file}`, SESSION_KEY: tokens.sessionKey };
  const postroom = await launchProcessForTest(settings);
  const owner = await postroom.signUp('owner');
  // A user has at most 100 keys.
  const keyOwners = [owner, await postroom.signUp('second key owner')];
  const load = { postroom, owner, tokens, file };
  const followers: Follower[] = [];
  for (let n = 0; n < roomCount; n += 1) {
    followers.push(...(await createFollowers(load, `den ${n}`, keyOwners[n % 2] ?? owner)));
  }
  const rooms = [...new Set(followers.map(({ room }) => room))];
  const witnesses = new Map<string, ProtocolSocket>();
  for (const room of rooms) witnesses.set(room, await witness(postroom, owner, room));
  const { true: brief = [], false: lasting = [] } = Object.groupBy(followers, ({ isBrief }) => `${isBrief}`);
  await connect(load, lasting, () => 600);
  // The tokens expire at different times during the load.
  await connect(load, brief, (n) => 2 + (n % 5));
  expect(followers).toHaveLength(1_000);

  const random = createRandom(5);
  const takeSome = (some: Follower[], count: number) =>
    Array.from({ length: count }, () => some.splice(Math.floor(random() * some.length), 1)[0]).filter(
      (one) => one !== undefined,
    );
  const members = lasting.filter(({ keyId }) => keyId === undefined);
  const keys = lasting.filter(({ keyId }) => keyId !== undefined);
  const end = async (follower: Follower, fate: Fate, field: string) => {
    follower.fate = fate;
    await change(postroom, [field], follower.keyOwner ?? owner);
    follower.doneAt = Date.now();
  };
  const changes: Promise<void>[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const next = new Promise((resolve) => setTimeout(resolve, roundMs));
    const talking = change(
      postroom,
      rooms.map((room) => createPost(room, 'talk')),
      owner,
    );
    for (const follower of takeSome(members, removedEach)) {
      const { room, userId } = follower;
      changes.push(
        end(follower, 'removed', `removeRoomMember(input: { room: "${room}", user: "${userId}" }) { room { id } }`),
      );
    }
    for (const follower of takeSome(keys, revokedEach)) {
      const { room, keyId } = follower;
      const revoking = end(follower, 'revoked', `revokeApiKey(input: { id: "${keyId}" }) { apiKey { id } }`);
      // The post after the revocation marks the position of the revocation in the log.
      changes.push(revoking.then(async () => void (await change(postroom, [createPost(room, `${keyId}`)], owner))));
    }
    await Promise.all([talking, next]);
  }
  await Promise.all(changes);
  for (const follower of brief) follower.fate = 'expired';
  await expect.poll(() => brief.filter(({ ended }) => !ended).length).toBe(0);
  await change(
    postroom,
    rooms.map((room) => createPost(room, 'last')),
    owner,
  );

  /** For each room and user or key, the sequence number of the event that marks the removal or revocation. */
  const endedAt = new Map<string, number>();
  const heads = new Map<string, number>();
  for (const [room, socket] of witnesses) {
    await socket.take(({ payload }) => payload?.data?.roomEvents.post?.title === 'last');
    for (const { data, extensions } of socket.nexts('w')) {
      const seq = seqOf(extensions.live.cursor);
      heads.set(room, seq);
      endedAt.set(`${room} ${data.roomEvents.user?.id ?? data.roomEvents.post?.title}`, seq);
    }
  }
  const words: Record<Fate, string[]> = {
    removed: ['MEMBERSHIP_REVOKED'],
    revoked: ['4403', 'UNAUTHENTICATED'],
    expired: ['4403', 'UNAUTHENTICATED'],
    stays: [],
  };
  const isThrough = ({ fate, ended, room, seqs }: Follower) =>
    fate === 'stays' ? seqs.at(-1) === heads.get(room) : ended !== undefined;
  await expect.poll(() => followers.filter((follower) => !isThrough(follower)).length).toBe(0);

  let [late, holes] = [0, 0];
  const slowest: Record<Fate, number> = { removed: 0, revoked: 0, expired: 0, stays: 0 };
  for (const follower of followers) {
    const { fate, room, userId, keyId, seqs, ended, expiresAt, latest, doneAt } = follower;
    const limit =
      fate === 'stays' || fate === 'expired' ? Number.POSITIVE_INFINITY : endedAt.get(`${room} ${keyId ?? userId}`);
    expect(limit).toBeDefined();
    late += seqs.filter((seq) => seq >= (limit ?? 0)).length + (latest >= expiresAt ? 1 : 0);
    if (seqs.some((seq, n) => n > 0 && seq !== (seqs[n - 1] ?? 0) + 1)) holes += 1;
    expect(fate === 'stays' ? ended : words[fate].includes(ended?.how ?? '')).toBe(fate === 'stays' ? undefined : true);
    if (ended) slowest[fate] = Math.max(slowest[fate], ended.at - (fate === 'expired' ? expiresAt : doneAt));
  }
  const fates = Object.groupBy(followers, ({ fate }) => fate);
  const delivered = followers.reduce((sum, { seqs }) => sum + seqs.length, 0);
  await annotate(
    `${delivered} deliveries; ${Object.entries(fates)
      .map(([fate, some]) => `${fate} ${some.length}, at the latest ${slowest[fate as Fate]} ms behind`)
      .join('; ')}`,
  );
  expect({ late, holes }).toEqual({ late: 0, holes: 0 });
  expect(fates.removed).toHaveLength(rounds * removedEach);
  expect(fates.revoked).toHaveLength(rounds * revokedEach);
  expect(fates.expired).toHaveLength(roomCount * briefEach);
}, 120_000);
