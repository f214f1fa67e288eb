import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { post } from '../support/clients/http.ts';
import { launch, mainProgram, type Postroom, type PostroomProcess, type Settings } from '../support/server/postroom.ts';

/* Two servers on one database. The clock of one is two seconds ahead, and that of the other is two seconds behind. */

const preload = new URL('../support/server/wall-clock.ts', import.meta.url).pathname;
const skewMs = 2_000;

const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));
const running: PostroomProcess[] = [];
afterAll(async () => {
  await Promise.all(running.map((postroom) => postroom.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function launchTwo(database: string, settings: Settings = {}) {
  const launchWithOffset = async (offset: number) => {
    const clock = join(folder, `clock${offset}`);
    writeFileSync(clock, String(offset));
    const own = { DATABASE_URL: `sqlite:${join(folder, database)}`, WALL_CLOCK: clock, ...settings };
    const postroom = await launch(own, ['--import', preload, ...mainProgram]);
    running.push(postroom);
    return postroom;
  };
  const ahead = await launchWithOffset(skewMs);
  return { ahead, behind: await launchWithOffset(-skewMs) };
}

let ahead: PostroomProcess;
let behind: PostroomProcess;
beforeAll(async () => {
  ({ ahead, behind } = await launchTwo('postroom.db'));
});

const isSignedIn = async (postroom: Postroom, token: string) => {
  const { status, code } = await postroom.send('{ viewer { id } }', {}, token);
  expect([status, code]).toEqual(status === 200 ? [200, undefined] : [401, 'UNAUTHENTICATED']);
  return status === 200;
};

async function signIn(postroom: Postroom, email: string, password: string): Promise<string> {
  const query = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
  return (await postroom.ask(query, { input: { email, password } })).signIn.accessToken;
}

async function changePassword(postroom: Postroom, token: string, from: string, to: string): Promise<string> {
  const query = 'mutation ($input: ChangePasswordInput!) { changePassword(input: $input) { accessToken } }';
  const input = { currentPassword: from, newPassword: to };
  return (await postroom.ask(query, { input }, token)).changePassword.accessToken;
}

it('a new password on either server ends all sessions that began before it on either server, and none that began after it', async () => {
  const { email, password } = await behind.signUp('Ada');
  let present = password;
  const rounds = [
    [ahead, behind],
    [behind, ahead],
    [behind, ahead],
  ] as const;
  for (const [round, [changing, other]] of rounds.entries()) {
    const earlier = [await signIn(ahead, email, present), await signIn(behind, email, present)];
    const own = await signIn(other, email, present);
    const next = `horse number ${round}`;
    const kept = await changePassword(changing, own, present, next);
    present = next;
    const later = [await signIn(behind, email, present), await signIn(ahead, email, present)];
    for (const server of [ahead, behind]) {
      // A session that was used just now may be cached for a second; these were not.
      for (const token of earlier) expect(await isSignedIn(server, token)).toBe(false);
      for (const token of [kept, ...later]) expect(await isSignedIn(server, token)).toBe(true);
    }
  }
});

it('sign-in attempts are counted in one window, which is never longer than 15 minutes', async () => {
  const limit = 2;
  const limits = { SIGN_IN_ATTEMPTS: String(limit), TRUST_PROXY: '1' };
  const { ahead, behind } = await launchTwo('limited.db', limits);
  const query = 'mutation { signIn(input: { email: "a@example.org", password: "wrong horse" }) { expiresAt } }';
  const attempt = async (postroom: Postroom, address: string) => {
    const { status, headers } = await post(postroom, query, { headers: { 'x-forwarded-for': address } });
    return { status, retryAfter: Number(headers['retry-after']) };
  };
  for (const [address, first, second] of [
    ['192.0.2.1', ahead, behind],
    ['192.0.2.2', behind, ahead],
  ] as const) {
    for (let n = 0; n < limit; n += 1) expect((await attempt(n % 2 ? second : first, address)).status).toBe(401);
    for (const server of [first, second]) {
      const { status, retryAfter } = await attempt(server, address);
      expect(status).toBe(429);
      expect(retryAfter).toBeLessThanOrEqual(15 * 60);
      expect(retryAfter).toBeGreaterThan(15 * 60 - 60);
    }
  }
});

it('the times of events and posts of a room never run backwards', async () => {
  const ada = await ahead.signUp('Ada');
  const room = await ahead.createRoom(ada, 'lobby');
  const ids = [];
  for (let n = 0; n < 10; n += 1) ids.push(await (n % 2 ? behind : ahead).createPost(ada, room, `number ${n}`));
  const all = await Promise.all(
    Array.from({ length: 10 }, (_, n) => (n % 2 ? behind : ahead).createPost(ada, room, `at once ${n}`)),
  );
  const posts = '{ posts(first: 100) { nodes { id publishedAt } } }';
  const { nodes } = (await behind.ask(`query ($room: ID!) { room(id: $room) ${posts} }`, { room })).room.posts;
  const found: string[] = nodes.map(({ id }: { id: string }) => id);
  expect(found.slice(0, 10)).toEqual(ids);
  expect(new Set(found.slice(10))).toEqual(new Set(all));
  const times: number[] = nodes.map(({ publishedAt }: { publishedAt: string }) => Date.parse(publishedAt));
  expect(times).toEqual([...new Set(times)].sort((one, other) => one - other));
});
