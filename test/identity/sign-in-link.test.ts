// Runs on SQLite and on PostgreSQL.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { post } from '../support/clients/http.ts';
import { newSessionKey } from '../support/database/test-database.ts';
import { connectAs, sendAs } from '../support/identity/credentials.ts';
import {
  launchForTest,
  type Postroom,
  programEnvironment,
  run,
  runRefused,
  type Settings,
  scratchFolder,
} from '../support/server/postroom.ts';
import { createKey, expectRevoked, follow, launchStreamFixture, signIn } from '../support/server/stream-fixture.ts';

/* The command `sign-in-link` prints a token that signs in once. */

const mutation = `mutation ($input: SignInWithLinkInput!) {
  signInWithLink(input: $input) { accessToken expiresAt user { id email } }
}`;

async function createLink(settings: Settings, account: string): Promise<string> {
  const { status, stdout } = await run(['sign-in-link', account], settings);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^[\w.-]+\n$/) });
  return stdout.trim();
}

/** What a client learns from an answer, whatever it sent. */
async function useLink(postroom: Postroom, token: string) {
  const { status, headers, data, errors } = await postroom.send(mutation, { input: { token } });
  return { status, challenge: headers.get('www-authenticate'), data, errors };
}

const refusal = {
  status: 401,
  challenge: 'Bearer realm="postroom"',
  data: { signInWithLink: null },
  errors: [
    expect.objectContaining({
      message: 'The sign-in link is wrong, has expired, or was used or revoked.',
      extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    }),
  ],
};

it('a link signs in, also for the fields after it, and ends the other sessions and streams of the user, but not the API keys', async () => {
  const world = await launchStreamFixture();
  const { settings, postroom, room, ada } = world;
  const other = await launchForTest(settings);
  const [theirs, { key }] = [await follow(other, room, `Bearer ${ada.token}`), await createKey(world)];
  const mutation = `mutation ($input: SignInWithLinkInput!) {
    signInWithLink(input: $input) { accessToken expiresAt user { id email } } createRoom(input: { name: "den" }) { room { name } }
  }`;
  const token = await createLink(settings, ada.email.toUpperCase());
  const answer = await postroom.ask(mutation, { input: { token } }, ada.token);
  expect(answer.createRoom).toEqual({ room: { name: 'den' } });
  const { accessToken, expiresAt, user } = answer.signInWithLink;
  expect(user).toEqual({ id: ada.id, email: ada.email });
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 23 * 3_600_000);
  await expectRevoked(theirs);
  expect((await sendAs(postroom, `Bearer ${ada.token}`)).status).toBe(401);
  expect(await connectAs(postroom, `Bearer ${ada.token}`)).toBe(4403);
  expect(await connectAs(postroom, `Bearer ${accessToken}`)).toBe('admitted');
  for (const node of [postroom, other]) {
    expect((await sendAs(node, `Bearer ${accessToken}`)).data).toEqual({ viewer: { id: ada.id, name: 'Ada' } });
    expect((await sendAs(node, `ApiKey ${key}`)).status).toBe(200);
  }
  await signIn(postroom, ada);
});

it('of many uses at the same time, on two servers, one signs in', async () => {
  const { settings, postroom, ada } = await launchStreamFixture();
  const nodes = [postroom, await launchForTest(settings)];
  const token = await createLink(settings, ada.email);
  const uses = Array.from({ length: 20 }, (_, n) => nodes.slice(n % 2, (n % 2) + 1)).flat();
  const answers = await Promise.all(uses.map((node) => useLink(node, token)));
  const [signedIn, refused] = [200, 401].map((status) => answers.filter((answer) => answer.status === status));
  expect(signedIn).toHaveLength(1);
  expect(refused).toEqual(Array(19).fill(refusal));
  const accessToken = signedIn?.[0]?.data.signInWithLink.accessToken;
  for (const node of nodes) expect((await sendAs(node, `Bearer ${accessToken}`)).status).toBe(200);
});

describe('the same answer is given to', () => {
  it('a link that was used, or whose account has a new password, was signed in with another link, or was deleted', async () => {
    const { settings, postroom, ada, owner } = await launchStreamFixture();
    const accounts = [ada.id, ada.email, owner.email];
    const [used = '', first = '', second = ''] = await Promise.all(accounts.map((name) => createLink(settings, name)));
    const { accessToken } = (await useLink(postroom, used)).data.signInWithLink;
    const change = `mutation { changePassword(input: { currentPassword: "${ada.password}", newPassword: "a new horse" }) { expiresAt } }`;
    const third = await createLink(settings, ada.email);
    await postroom.ask(change, {}, accessToken);
    await postroom.ask(`mutation { deleteUser(input: { id: "${owner.id}" }) { user { id } } }`, {}, owner.token);
    for (const link of [used, first, second, third]) expect(await useLink(postroom, link)).toEqual(refusal);
  });

  it('a token that is wrong, of another key, or of another kind; and a link is not an access token', async () => {
    const { settings, postroom, ada } = await launchStreamFixture();
    const ofOther = { ...settings, SESSION_KEY: newSessionKey() };
    const created = [createLink(settings, ada.email), createLink(ofOther, ada.email)] as const;
    const [link, foreign] = await Promise.all(created);
    const [header = '', claims = '', signature = ''] = link.split('.');
    const unsigned = Buffer.from('{"alg":"none","typ":"sign-in-link+jwt"}').toString('base64url');
    const wrong = [
      ...['', ' ', 'nonsense', '\0', '\ud800', 'é.é.é', '..', 'x'.repeat(100_000), '.'.repeat(100_000)],
      ...[`${link}x`, ` ${link}`, `${header}.${claims}.`, `${header}.${claims}`, `${unsigned}.${claims}.`],
      ...[`${header}.${claims.slice(0, -1)}.${signature}`, `${header}.e30.${signature}`, foreign, ada.token],
    ];
    for (const token of wrong) expect(await useLink(postroom, token)).toEqual(refusal);
    expect((await sendAs(postroom, `Bearer ${link}`)).status).toBe(401);
    expect(await connectAs(postroom, `Bearer ${link}`)).toBe(4403);
    expect((await useLink(postroom, link)).status).toBe(200);
  });

  it('a link that is older than 15 minutes', async () => {
    const { settings, postroom, ada } = await launchStreamFixture();
    const preload = new URL('../support/server/wall-clock.ts', import.meta.url).pathname;
    const createAt = (minutes: number) => {
      const clock = join(scratchFolder(), 'clock');
      writeFileSync(clock, String(minutes * 60_000));
      const NODE_OPTIONS = `${programEnvironment.NODE_OPTIONS} --import=${preload}`;
      return createLink({ ...settings, WALL_CLOCK: clock, NODE_OPTIONS }, ada.email);
    };
    const [late, inTime] = await Promise.all([createAt(-16), createAt(-13)]);
    expect(await useLink(postroom, late)).toEqual(refusal);
    expect((await useLink(postroom, inTime)).status).toBe(200);
  });
});

it('an address has the same number of attempts as to sign in: beyond it, a valid link is refused and stays valid', async () => {
  const { settings, postroom, ada } = await launchStreamFixture({ SIGN_IN_ATTEMPTS: '4', TRUST_PROXY: '1' });
  const attempt = async (token: string, address: string) => {
    const query = `mutation { signInWithLink(input: { token: "${token}" }) { expiresAt } }`;
    const { status, code } = await post(postroom, query, { headers: { 'x-forwarded-for': address } });
    return code ?? status;
  };
  const link = await createLink(settings, ada.email);
  for (let n = 0; n < 4; n += 1) expect(await attempt(`guess${n}`, '192.0.2.1')).toBe('UNAUTHENTICATED');
  expect(await attempt(link, '192.0.2.1')).toBe('RATE_LIMITED');
  expect(await attempt(link, '192.0.2.2')).toBe(200);
});

it('the operator gets no link for an account that is unknown or deleted, or has no password', async () => {
  const world = await launchStreamFixture();
  const { settings, postroom, owner } = world;
  const { userId: application } = await createKey(world);
  await postroom.ask(`mutation { deleteUser(input: { id: "${owner.id}" }) { user { id } } }`, {}, owner.token);
  const accounts = [[], ['nobody@example.org'], [owner.id], [application]];
  const refusals = accounts.map((account) => runRefused(['sign-in-link', ...account], settings));
  expect(await Promise.all(refusals)).toEqual([
    'usage: postroom sign-in-link EMAIL|ID',
    'postroom: there is no account with the e-mail nobody@example.org',
    `postroom: the account ${owner.id} was deleted`,
    expect.stringContaining(`the account ${application} does not sign in with a password: `),
  ]);
});
