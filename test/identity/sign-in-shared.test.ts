// Runs on SQLite and on PostgreSQL.
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { post } from '../support/clients/http.ts';
import { isPostgresTest } from '../support/database/test-database.ts';
import { launchForTest, type Postroom, scratchFolder } from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

/* Sign-in attempts are stored in the database, so that servers on the same database share the limits. */

const limit = 4;

async function launchTwo() {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}`, SIGN_IN_ATTEMPTS: String(limit), TRUST_PROXY: '1' };
  return { file, one: await launchForTest(settings), other: await launchForTest(settings) };
}

async function signIn(postroom: Postroom, email: string, password: string, address: string) {
  const query = `mutation { signIn(input: { email: "${email}", password: "${password}" }) { expiresAt } }`;
  const { status, code, headers } = await post(postroom, query, { headers: { 'x-forwarded-for': address } });
  return { status, code, retryAfter: Number(headers['retry-after']) };
}

const rowsOf = (file: string) =>
  withDatabase(file, (database) => database.prepare('select * from "signInAttempts" order by "key"').all());

it('an address has the same number of attempts on two servers together as on one', async () => {
  const { one, other } = await launchTwo();
  const attempts = Array.from({ length: 3 * limit }, (_, n) =>
    signIn(n % 2 ? one : other, `someone${n}@example.org`, 'wrong horse', '192.0.2.1'),
  );
  const statuses = (await Promise.all(attempts)).map(({ status }) => status).sort();
  expect(statuses).toEqual([...Array(limit).fill(401), ...Array(2 * limit).fill(429)]);
  for (const postroom of [one, other]) {
    const { code, retryAfter } = await signIn(postroom, 'ada@example.org', 'wrong horse', '192.0.2.1');
    expect(code).toBe('RATE_LIMITED');
    expect(retryAfter).toBeLessThanOrEqual(15 * 60);
    expect(retryAfter).toBeGreaterThan(14 * 60);
  }
});

it('an account has the same number of attempts on two servers together as on one, and right passwords use up none', async () => {
  const { one, other } = await launchTwo();
  const { email, password } = await one.signUp('Ada');
  const attempt = (n: number, tried: string) => signIn(n % 2 ? one : other, email, tried, `198.51.100.${n}`);
  for (let n = 0; n < 10; n += 1) expect((await attempt(n, password)).status).toBe(200);
  const wrong = await Promise.all(Array.from({ length: 10 * limit }, (_, n) => attempt(100 + n, 'wrong horse')));
  expect(new Set(wrong.map(({ status }) => status))).toEqual(new Set([401]));
  for (const n of [200, 201]) expect(await attempt(n, password)).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
});

it('a flood of refused attempts writes nothing after the first', async () => {
  const { file, one } = await launchTwo();
  for (let n = 0; n <= limit; n += 1) await signIn(one, 'ada@example.org', 'wrong horse', '192.0.2.1');
  const before = rowsOf(file);
  const flood = Array.from({ length: 50 }, (_, n) => signIn(one, `e${n}@example.org`, 'wrong horse', '192.0.2.1'));
  expect(new Set((await Promise.all(flood)).map(({ status }) => status))).toEqual(new Set([429]));
  expect(rowsOf(file)).toEqual(before);
});

it('neither e-mails nor addresses of attempts are stored in clear', async () => {
  const { file, one } = await launchTwo();
  await signIn(one, 'Nobody@example.org', 'wrong horse', '192.0.2.77');
  const rows = rowsOf(file);
  expect(rows).toHaveLength(2);
  for (const { key } of rows) expect(key).toMatch(/^[\da-f]{64}$/);
});

it('attempts are deleted after their window has ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const { file, one } = await launchTwo();
  await signIn(one, 'ada@example.org', 'wrong horse', '192.0.2.1');
  const present = rowsOf(file);
  withDatabase(file, (database) => {
    const insert = database.prepare('insert into "signInAttempts" ("key", "attempts", "endsAt") values (?, 1, ?)');
    for (let n = 0; n < 600; n += 1) insert.run(`ended ${n}`, Date.now() - 1);
  });
  vi.advanceTimersByTime(60_000);
  await expect.poll(() => rowsOf(file)).toEqual(present);
});

it.skipIf(isPostgresTest)(
  'an attempt that cannot be stored is answered with 503, and the password is not checked',
  async () => {
    const { file, one } = await launchTwo();
    const { email, password } = await one.signUp('Ada');
    renameSync(file, `${file}.away`);
    for (const tried of [password, 'wrong horse']) {
      const reply = await signIn(one, email, tried, '192.0.2.1');
      expect(reply).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    }
    renameSync(`${file}.away`, file);
    await expect.poll(async () => (await fetch(`${one.url}/ready`)).status).toBe(200);
    expect((await signIn(one, email, password, '192.0.2.1')).status).toBe(200);
  },
);
