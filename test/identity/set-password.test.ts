// Runs on SQLite and on PostgreSQL.
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendAs } from '../support/identity/credentials.ts';
import { audience, openIssuer } from '../support/identity/issuer.ts';
import { type Finished, type Postroom, run, type Settings } from '../support/server/postroom.ts';
import {
  createKey,
  eventsOf,
  follow,
  lastErrorCodeOf,
  launchStreamFixture,
  outcomeOf,
  signIn,
} from '../support/server/stream-fixture.ts';
import { typePasswords } from '../support/server/terminal.ts';

/* The command `set-password`, while a server runs on the same database. */

const newPassword = 'another horse';

const canSignIn = async (postroom: Postroom, email: string, password: string) => {
  const query = 'mutation ($input: SignInInput!) { signIn(input: $input) { accessToken } }';
  const { status } = await postroom.send(query, { input: { email, password } });
  expect([200, 401]).toContain(status);
  return status === 200;
};

it('the operator sets a password: only this one signs in, and the sessions and streams of the user end; the API keys do not', async () => {
  const world = await launchStreamFixture();
  const { settings, postroom, room, ada, owner } = world;
  const [theirs, { key }] = [await follow(postroom, room, `Bearer ${ada.token}`), await createKey(world)];
  const { status, stdout } = await run(['set-password', ada.email.toUpperCase()], settings, `${newPassword}\n`);
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: `Ada (${ada.id}) has a new password, and all earlier sessions are revoked.\n`,
  });
  for (const socket of theirs.sockets) expect(await outcomeOf(socket)).toBe(4403);
  for (const stream of theirs.streams) expect(await lastErrorCodeOf(stream)).toBe('UNAUTHENTICATED');
  await postroom.createPost(owner, room, 'unseen');
  for (const socket of theirs.sockets) expect(socket.nexts('e')).toEqual([]);
  for (const stream of theirs.streams) expect(eventsOf(stream)).toEqual([]);
  for (const query of ['{ viewer { id } }', 'mutation { renewSession { accessToken } }'])
    expect((await sendAs(postroom, `Bearer ${ada.token}`, query)).status).toBe(401);
  expect(await canSignIn(postroom, ada.email, ada.password)).toBe(false);
  expect(await canSignIn(postroom, ada.email, newPassword)).toBe(true);
  expect((await sendAs(postroom, `ApiKey ${key}`)).status).toBe(200);
  expect((await sendAs(postroom, `Bearer ${owner.token}`)).status).toBe(200);
});

it.each(['\n', '\r\n', '', '\nthe next line\n'])('the password is the first line of the input: %j', async (end) => {
  const { settings, postroom, ada } = await launchStreamFixture();
  const password = ' häst, with spaces ';
  expect(await run(['set-password', ada.id], settings, password + end)).toMatchObject({ status: 0 });
  expect(await canSignIn(postroom, ada.email, password)).toBe(true);
});

describe('nothing is changed, and one line says why,', () => {
  const refusalOf = ({ status, stdout, stderr }: Finished) => {
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^[^\n]+\n$/);
    return stderr.trim();
  };

  it('for a password that signUp refuses, and for a password that is an argument', async () => {
    const { settings, postroom, ada } = await launchStreamFixture();
    for (const password of ['', 'seven 7', 'x'.repeat(201), 'a NUL \0 in it']) {
      const refusal = refusalOf(await run(['set-password', ada.email], settings, `${password}\n`));
      expect(refusal).toBe('postroom: the password must have 8 to 200 characters, and no NUL character');
    }
    for (const args of [[], [ada.email, newPassword]]) {
      const refusal = refusalOf(await run(['set-password', ...args], settings, `${newPassword}\n`));
      expect(refusal).toBe('usage: postroom set-password EMAIL|ID');
    }
    expect(await canSignIn(postroom, ada.email, ada.password)).toBe(true);
    expect((await sendAs(postroom, `Bearer ${ada.token}`)).status).toBe(200);
  });

  it('for an unknown account, a deleted account, and an account that does not sign in with a password', async () => {
    const issuer = await openIssuer();
    onTestFinished(() => issuer.close());
    const world = await launchStreamFixture({ OAUTH_ISSUER: issuer.issuer, OAUTH_AUDIENCE: audience });
    const { settings, postroom, ada, owner } = world;
    const token = `Bearer ${await issuer.signIn('bob')}`;
    const bob: string = (await sendAs(postroom, token)).data.viewer.id;
    const { userId: application } = await createKey(world);
    const email = `mutation { updateUser(input: { id: "${bob}", email: "bob@example.org" }) { user { id } } }`;
    expect((await sendAs(postroom, token, email)).status).toBe(200);
    await postroom.ask(`mutation { deleteUser(input: { id: "${owner.id}" }) { user { id } } }`, {}, owner.token);
    const reason = 'does not sign in with a password: it is that of an OAuth issuer, an API key or an import';
    for (const [account, refusal] of [
      ['nobody@example.org', 'there is no account with the e-mail nobody@example.org'],
      [owner.email, `there is no account with the e-mail ${owner.email}`],
      ['u00000000000000000000000000', 'there is no account with the id u00000000000000000000000000'],
      [owner.id, `the account ${owner.id} was deleted`],
      ['bob@example.org', `the account ${bob} ${reason}`],
      [application, `the account ${application} ${reason}`],
    ] as const)
      expect(refusalOf(await run(['set-password', account], settings, newPassword))).toBe(`postroom: ${refusal}`);
    expect((await sendAs(postroom, token)).status).toBe(200);
    expect(await canSignIn(postroom, ada.email, ada.password)).toBe(true);
  });
});

describe('at a terminal', () => {
  const typeAt = (account: string, settings: Settings, answers: readonly string[]) =>
    typePasswords(['set-password', account], settings, answers);

  it('the password is typed twice, and is not shown', async () => {
    const { settings, postroom, ada } = await launchStreamFixture();
    const differing = await typeAt(ada.email, settings, [newPassword, 'another hose']);
    expect(differing).toMatchObject({ status: 1, shown: expect.stringContaining('the two passwords differ') });
    expect(await canSignIn(postroom, ada.email, ada.password)).toBe(true);
    const { status, shown } = await typeAt(ada.email, settings, [newPassword, newPassword]);
    expect({ status, shown }).toMatchObject({ status: 0, shown: expect.stringContaining('has a new password') });
    expect(shown + differing.shown).not.toMatch(/horse|hose/);
    expect(await canSignIn(postroom, ada.email, newPassword)).toBe(true);
  });

  it.each(['\u0003', '\u0004'])('a control character stops the command: %j', async (key) => {
    const { settings, postroom, ada } = await launchStreamFixture();
    expect(await typeAt(ada.email, settings, [key])).toMatchObject({ status: 1 });
    expect(await canSignIn(postroom, ada.email, ada.password)).toBe(true);
  });
});

it('a session that begins while the password is set is revoked, or began with the new password', async () => {
  const { settings, postroom, ada } = await launchStreamFixture();
  const setting = run(['set-password', ada.email], settings, newPassword);
  const tokens: string[] = [];
  while (await canSignIn(postroom, ada.email, ada.password)) tokens.push(await signIn(postroom, ada).catch(() => ''));
  expect(await setting).toMatchObject({ status: 0 });
  for (const token of tokens.filter(Boolean))
    await expect.poll(async () => (await sendAs(postroom, `Bearer ${token}`)).status).toBe(401);
});
