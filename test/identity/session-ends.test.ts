// Runs on SQLite and on PostgreSQL.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { post } from '../support/clients/http.ts';
import { isPostgresTest, newSessionKey } from '../support/database/test-database.ts';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import {
  launchForTest,
  type Postroom,
  type Settings,
  scratchFolder,
  startInProcess,
} from '../support/server/postroom.ts';

describe('a change of the session key', () => {
  /** Runs a server while `work` runs. */
  async function during<T>(settings: Settings, work: (postroom: Postroom) => Promise<T>): Promise<T> {
    const postroom = await startInProcess(settings);
    try {
      return await work(postroom);
    } finally {
      await postroom.stop();
    }
  }

  const isTaken = async (postroom: Postroom, token: string) => {
    const { status } = await sendAs(postroom, `Bearer ${token}`);
    expect(await connectAs(postroom, `Bearer ${token}`)).toBe(status === 200 ? 'admitted' : 4403);
    return status === 200;
  };

  // With PostgreSQL no key is stored beside the database.
  it.skipIf(isPostgresTest).each(['in the setting', 'in the file beside the database'])(
    'keeps the tokens of the previous key valid while it is listed after the new one: %s',
    async (where) => {
      const folder = scratchFolder();
      const own = { DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
      const file = join(folder, 'session-key.pem');
      const withKeys = (...keys: string[]) => {
        if (where === 'in the setting') return { ...own, SESSION_KEY: keys.join('') };
        writeFileSync(file, keys.join(''));
        return own;
      };
      const first = await during(own, async (postroom) => ({
        ...(await postroom.signUp('Ada')),
        key: readFileSync(file, 'utf8'),
      }));
      const next = newSessionKey();
      const renewed = await during(withKeys(next, first.key), async (postroom) => {
        expect(await isTaken(postroom, first.token)).toBe(true);
        const renew = 'mutation { renewSession { accessToken } }';
        return (await postroom.ask(renew, {}, first.token)).renewSession.accessToken as string;
      });
      await during(withKeys(next), async (postroom) => {
        expect(await isTaken(postroom, first.token)).toBe(false);
        const { errors } = await sendAs(postroom, `Bearer ${first.token}`);
        expect(errors?.[0]?.message).toContain('signed with a key that this server does not have');
        expect(await isTaken(postroom, renewed)).toBe(true);
      });
    },
  );
});

describe('sign-in attempts', () => {
  const limit = 3;

  /** The server trusts `X-Forwarded-For`, so that the test can send requests from several addresses. */
  async function launchLimited() {
    const postroom = await launchForTest({ SIGN_IN_ATTEMPTS: String(limit), TRUST_PROXY: '1' });
    const send = async (query: string, address: string, token?: string) => {
      const authorization = token && { authorization: `Bearer ${token}` };
      const answer = await post(postroom, query, { headers: { 'x-forwarded-for': address, ...authorization } });
      return { status: answer.status, retryAfter: answer.headers['retry-after'] };
    };
    const attempt = (email: string, password: string, address: string) =>
      send(`mutation { signIn(input: { email: "${email}", password: "${password}" }) { expiresAt } }`, address);
    return { postroom, attempt, send, ada: await postroom.signUp('Ada'), bob: await postroom.signUp('Bob') };
  }

  it('of an account are limited to ten times those of an address, whatever the addresses, and whether or not the account exists', async () => {
    const { attempt, ada, bob } = await launchLimited();
    for (const email of [ada.email, 'nobody@example.org']) {
      for (let n = 0; n < 10 * limit; n += 1) {
        const spelled = n % 2 ? email.toUpperCase() : email;
        expect((await attempt(spelled, 'wrong horse', `192.0.2.${n}`)).status).toBe(401);
      }
      const late = await attempt(email, ada.password, '192.0.2.99');
      expect(late).toEqual({ status: 429, retryAfter: expect.stringMatching(/^[1-9]\d*$/) });
      expect(Number(late.retryAfter)).toBeLessThanOrEqual(15 * 60);
    }
    expect((await attempt(bob.email, bob.password, '192.0.2.99')).status).toBe(200);
  });

  it('of an address are limited, whatever accounts they are for', async () => {
    const { attempt, bob } = await launchLimited();
    for (let n = 0; n < limit; n += 1)
      expect((await attempt(`someone${n}@example.org`, 'wrong horse', '192.0.2.1')).status).toBe(401);
    expect((await attempt(bob.email, bob.password, '192.0.2.1')).status).toBe(429);
    expect((await attempt(bob.email, bob.password, '192.0.2.2')).status).toBe(200);
  });

  it('include the passwords that are tried by a change of the password', async () => {
    const { send, ada } = await launchLimited();
    const change =
      'mutation { changePassword(input: { currentPassword: "wrong", newPassword: "long enough" }) { expiresAt } }';
    const statuses = [];
    for (let n = 0; n <= limit; n += 1) statuses.push((await send(change, '192.0.2.1', ada.token)).status);
    expect(statuses).toEqual([...Array(limit).fill(403), 429]);
  });
});
