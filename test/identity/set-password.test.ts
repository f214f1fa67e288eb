// Runs on SQLite and on PostgreSQL.
import { describe, expect, it, onTestFinished } from 'vitest';
import { sendAs } from '../support/identity/credentials.ts';
import { audience, openIssuer } from '../support/identity/issuer.ts';
import { type Postroom, run, runRefused } from '../support/server/postroom.ts';
import { createKey, expectRevoked, follow, launchStreamFixture, signIn } from '../support/server/stream-fixture.ts';
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
  await expectRevoked(theirs);
  for (const query of ['{ viewer { id } }', 'mutation { renewSession { accessToken } }'])
    expect((await sendAs(postroom, `Bearer ${ada.token}`, query)).status).toBe(401);
  expect(await canSignIn(postroom, ada.email, ada.password)).toBe(false);
  expect(await canSignIn(postroom, ada.email, newPassword)).toBe(true);
  expect((await sendAs(postroom, `ApiKey ${key}`)).status).toBe(200);
  expect((await sendAs(postroom, `Bearer ${owner.token}`)).status).toBe(200);
});

it('the password is the first line of the input', async () => {
  const { settings, postroom, ada } = await launchStreamFixture();
  const password = ' häst, with spaces ';
  expect(await run(['set-password', ada.id], settings, `${password}\r\nthe next line\n`)).toMatchObject({ status: 0 });
  expect(await canSignIn(postroom, ada.email, password)).toBe(true);
});

describe('nothing is changed, and one line says why,', () => {
  it('for a password that signUp refuses, and for a password that is an argument', async () => {
    const { settings, postroom, ada } = await launchStreamFixture();
    const set = (args: string[], password: string) => runRefused(['set-password', ...args], settings, `${password}\n`);
    const refusals = [set([ada.email], ''), set([ada.email], 'a NUL \0 in it'), set([ada.email, newPassword], '')];
    const rule = 'postroom: the password must have 8 to 200 characters, and no NUL character';
    expect(await Promise.all(refusals)).toEqual([rule, rule, 'usage: postroom set-password EMAIL|ID']);
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
    const expected = {
      [owner.email]: `there is no account with the e-mail ${owner.email}`,
      u00000000000000000000000000: 'there is no account with the id u00000000000000000000000000',
      'bob@example.org': `the account ${bob} ${reason}`,
      [application]: `the account ${application} ${reason}`,
    };
    const set = async (account: string) => [
      account,
      await runRefused(['set-password', account], settings, newPassword),
    ];
    const refusals = Object.entries(expected).map(([account, refusal]) => [account, `postroom: ${refusal}`]);
    expect(await Promise.all(Object.keys(expected).map(set))).toEqual(refusals);
    expect((await sendAs(postroom, token)).status).toBe(200);
    expect(await canSignIn(postroom, ada.email, ada.password)).toBe(true);
  });
});

it('at a terminal, the password is typed twice, and is not shown; a control character stops the command', async () => {
  const { settings, postroom, ada } = await launchStreamFixture();
  const type = (...answers: string[]) => typePasswords(['set-password', ada.email], settings, answers);
  const stopped = await Promise.all([type(newPassword, 'another hose'), type('\u0003'), type('\u0004')]);
  expect(stopped.map(({ status }) => status)).toEqual([1, 1, 1]);
  expect(stopped[0].shown).toContain('the two passwords differ');
  expect(await canSignIn(postroom, ada.email, ada.password)).toBe(true);
  const { status, shown } = await type(newPassword, newPassword);
  expect({ status, shown }).toMatchObject({ status: 0, shown: expect.stringContaining('has a new password') });
  expect(shown + stopped[0].shown).not.toMatch(/horse|hose/);
  expect(await canSignIn(postroom, ada.email, newPassword)).toBe(true);
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
