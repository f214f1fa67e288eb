// Runs on SQLite and on PostgreSQL.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { scratchName } from '../support/rooms/names.ts';
import {
  launch as launchProgram,
  mainProgram,
  type Person,
  type PostroomProcess,
  run,
  type Settings,
} from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

/* The wall clock is moved forward or back while the server runs, or between two runs. */

const preload = new URL('../support/server/wall-clock.ts', import.meta.url).pathname;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const folders: string[] = [];
const launched: PostroomProcess[] = [];
afterAll(async () => {
  await Promise.all(launched.map((postroom) => postroom.stop()));
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function launchWithClock(settings: Settings = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
  folders.push(folder);
  const file = join(folder, 'clock');
  const databaseUrl = `sqlite:${join(folder, 'postroom.db')}`;
  const own = { WALL_CLOCK: file, DATABASE_URL: databaseUrl, ...settings };
  const launch = async () => {
    const postroom = await launchProgram(own, ['--import', preload, ...mainProgram]);
    launched.push(postroom);
    return postroom;
  };
  writeFileSync(file, '0');
  const clock = {
    postroom: await launch(),
    databaseUrl,
    /** Sets the offset from the real time, in milliseconds. */
    set: (ms: number) => clock.write(String(ms)),
    /** Stops the clock at the current real time. */
    stop: () => clock.write(`=${Date.now()}`),
    async write(setting: string): Promise<void> {
      writeFileSync(file, setting);
      const { process, log } = clock.postroom;
      const movedCount = () => log.filter(({ msg }) => msg === 'the clock was moved').length;
      const before = movedCount();
      process.kill('SIGUSR2');
      await expect.poll(movedCount).toBe(before + 1);
    },
    /** Restarts the server with this offset from the real time, in milliseconds. */
    async restart(ms: number): Promise<PostroomProcess> {
      await clock.postroom.stop();
      writeFileSync(file, String(ms));
      clock.postroom = await launch();
      return clock.postroom;
    },
  };
  return clock;
}

/** The server of all tests that need no settings of their own. */
let shared: Awaited<ReturnType<typeof launchWithClock>>;
beforeAll(async () => {
  shared = await launchWithClock();
});

/** The shared server, whose clock another test may have moved. */
async function resetClock() {
  await shared.set(0);
  return shared;
}

const postsOf = async (postroom: PostroomProcess, room: string, after?: string) => {
  const query = `query ($room: ID!, $after: String) {
    room(id: $room) { posts(first: 100, after: $after) { nodes { id publishedAt } pageInfo { endCursor } } }
  }`;
  const { nodes, pageInfo } = (await postroom.ask(query, { room, after })).room.posts;
  const times: number[] = nodes.map(({ publishedAt }: { publishedAt: string }) => Date.parse(publishedAt));
  return { ids: nodes.map(({ id }: { id: string }) => id) as string[], times, end: pageInfo.endCursor as string };
};

async function createDraft(postroom: PostroomProcess, { token }: Person, room: string): Promise<string> {
  const create =
    'mutation ($room: ID!) { createPost(input: { room: $room, title: "draft", publish: false }) { post { id } } }';
  return (await postroom.ask(create, { room }, token)).createPost.post.id;
}

const publish = 'mutation ($id: ID!) { publishPost(input: { id: $id }) { post { id } } }';

describe('a clock that is set back', () => {
  it('closes no socket', async () => {
    const clock = await resetClock();
    const socket = await ProtocolSocket.open(clock.postroom.webSocketUrl);
    for (const ms of [-3_000, -hourMs, dayMs, 0]) {
      await clock.set(ms);
      await socket.settle();
    }
    socket.subscribe('q', '{ __typename }');
    expect(await socket.take(({ id }) => id === 'q')).toMatchObject({ type: 'next' });
  });

  it('hides no new post and no new member behind a position that a client holds, nor after a restart', async () => {
    const clock = await resetClock();
    const { postroom } = clock;
    const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
    const room = await postroom.createRoom(ada, scratchName());
    const drafts = [await createDraft(postroom, ada, room), await createDraft(postroom, ada, room)];
    await postroom.createPost(ada, room, 'first');
    const { end } = await postsOf(postroom, room);
    const members = `query ($room: ID!, $after: String) {
      room(id: $room) { members(after: $after) { nodes { id } pageInfo { endCursor } } }
    }`;
    const joined = (await postroom.ask(members, { room })).room.members.pageInfo.endCursor;

    await clock.set(-hourMs);
    const added = [await postroom.createPost(ada, room, 'an hour back')];
    for (const id of drafts) await postroom.ask(publish, { id }, ada.token);
    added.push(...drafts);
    await postroom.ask(
      'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }',
      { room },
      bob.token,
    );
    const later = await postroom.ask(members, { room, after: joined });
    expect(later.room.members.nodes).toEqual([{ id: bob.id }]);

    const restarted = await clock.restart(-2 * hourMs);
    added.push(await restarted.createPost(ada, room, 'two hours back'));
    const found = await postsOf(restarted, room, end);
    expect(found.ids).toEqual(added);
    expect(found.times).toEqual([...new Set(found.times)].sort((one, other) => one - other));
    const times = withDatabase(clock.databaseUrl.replace('sqlite:', ''), (database) =>
      database.prepare('select "at" from "roomEvents" where "roomId" = ? order by "seq"').all(room),
    ).map(({ at }) => Number(at));
    expect(times).toHaveLength(7);
    expect(times).toEqual([...new Set(times)].sort((one, other) => one - other));
  });

  it('does not extend the window of a rate: Retry-After stays within it', async () => {
    const clock = await launchWithClock({ RATE_LIMIT: '3', SIGN_IN_ATTEMPTS: '1', TRUST_PROXY: '1' });
    const ask = async (query: string, address: string) => {
      const { status, headers } = await fetch(clock.postroom.graphqlUrl, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
        body: JSON.stringify({ query }),
      });
      return { status, retryAfter: Number(headers.get('retry-after')) };
    };
    const signIn = 'mutation { signIn(input: { email: "a@example.org", password: "wrong" }) { expiresAt } }';
    expect((await ask('{ __typename }', '192.0.2.1')).status).toBe(200);
    expect((await ask(signIn, '192.0.2.2')).status).toBe(401);
    await clock.set(-hourMs);
    for (let sent = 1; sent < 3; sent += 1) expect((await ask('{ __typename }', '192.0.2.1')).status).toBe(200);
    const overRate = await ask('{ __typename }', '192.0.2.1');
    const overAttempts = await ask(signIn, '192.0.2.2');
    expect([overRate.status, overAttempts.status]).toEqual([429, 429]);
    expect(overRate.retryAfter).toBeLessThanOrEqual(60);
    expect(overAttempts.retryAfter).toBeLessThanOrEqual(15 * 60);
  });
});

it('two changes in one millisecond stay distinct: a draft published after a new post is ordered after it', async () => {
  const clock = await resetClock();
  const { postroom } = clock;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, scratchName());
  const [first, second] = [await createDraft(postroom, ada, room), await createDraft(postroom, ada, room)];
  await clock.stop();
  const both = `mutation ($room: ID!, $first: ID!, $second: ID!) {
    a: createPost(input: { room: $room, title: "new" }) { post { id } }
    b: publishPost(input: { id: $second }) { post { id } }
    c: publishPost(input: { id: $first }) { post { id } }
  }`;
  const { a } = await postroom.ask(both, { room, first, second }, ada.token);
  expect((await postsOf(postroom, room)).ids).toEqual([a.post.id, second, first]);
});

it('an imported post from the far future does not advance the clock of its room', async () => {
  const clock = await resetClock();
  const { postroom } = clock;
  const ada = await postroom.signUp('Ada');
  const name = scratchName();
  const room = await postroom.createRoom(ada, name);
  const records = [
    { type: 'room', name },
    { type: 'user', name: 'Prophet', createdAt: '2020-01-01T00:00:00Z' },
    { type: 'post', room: name, author: 'Prophet', title: 'x', body: 'x', publishedAt: '2999-01-01T00:00:00Z' },
  ];
  const input = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  expect((await run(['import', '-'], { DATABASE_URL: clock.databaseUrl }, input)).status).toBe(0);
  const before = Date.now();
  const id = await postroom.createPost(ada, room, 'now');
  const { ids, times } = await postsOf(postroom, room);
  expect(ids[0]).toBe(id);
  expect(times[0]).toBeGreaterThanOrEqual(before);
  expect(times[0]).toBeLessThanOrEqual(Date.now() + 1_000);
});

describe('a clock that was two days ahead', () => {
  const viewerOf = (postroom: PostroomProcess, token: string) => postroom.send('{ viewer { id } }', {}, token);
  const changePassword = async (
    postroom: PostroomProcess,
    token: string,
    from: string,
    to: string,
  ): Promise<string> => {
    const query = `mutation ($from: String!, $to: String!) {
      changePassword(input: { currentPassword: $from, newPassword: $to }) { accessToken }
    }`;
    return (await postroom.ask(query, { from, to }, token)).changePassword.accessToken;
  };
  const signIn = async (postroom: PostroomProcess, email: string, password: string): Promise<string> => {
    const query = `mutation ($email: String!, $password: String!) {
      signIn(input: { email: $email, password: $password }) { accessToken }
    }`;
    return (await postroom.ask(query, { email, password })).signIn.accessToken;
  };

  it('leaves new sessions valid, and a new password still ends the sessions that began meanwhile', async () => {
    const clock = await resetClock();
    const { postroom } = clock;
    const { id, email, password } = await postroom.signUp('Ada');
    const expectSignedIn = async (token: string) =>
      expect((await viewerOf(postroom, token)).data).toEqual({ viewer: { id } });
    await clock.set(2 * dayMs);
    const ahead = await signIn(postroom, email, password);
    const changed = await changePassword(postroom, ahead, password, 'second horse');
    const stranger = await signIn(postroom, email, 'second horse');
    await clock.set(0);
    for (const token of [changed, stranger]) await expectSignedIn(token);
    const fresh = await signIn(postroom, email, 'second horse');
    await expectSignedIn(fresh);
    const { renewSession } = await postroom.ask('mutation { renewSession { accessToken } }', {}, fresh);
    await expectSignedIn(renewSession.accessToken);
    const kept = await changePassword(postroom, fresh, 'second horse', 'third horse');
    await expectSignedIn(kept);
    await expectSignedIn(await signIn(postroom, email, 'third horse'));
    for (const token of [ahead, changed, stranger]) {
      expect(await viewerOf(postroom, token)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    }
  });
});
