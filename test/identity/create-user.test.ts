// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isPostgresTest } from '../support/database/test-database.ts';
import { launchForTest, type Postroom, run, runRefused, scratchFolder } from '../support/server/postroom.ts';
import { typePasswords } from '../support/server/terminal.ts';

/* The command `create-user`, while a server with closed sign-up runs on the same database. */

const email = 'grace@example.org';
const password = 'correct horse';

async function launchClosed() {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  return { settings, closed: await launchForTest({ ...settings, SIGN_UP: 'closed' }) };
}

/** The user who signs in, or undefined if the e-mail address or the password is wrong. */
async function signIn(postroom: Postroom, email: string, password: string) {
  const query = 'mutation ($input: SignInInput!) { signIn(input: $input) { user { id name email role } } }';
  const { status, data } = await postroom.send(query, { input: { email, password } });
  expect([200, 401]).toContain(status);
  return data?.signIn?.user;
}

it.each([
  { args: [email, '--name', 'Grace Hopper'], role: 'MEMBER' },
  { args: ['--admin', '--name', 'Grace Hopper', email], role: 'ADMIN' },
])('the account signs in at once, on the server that runs: $args', async ({ args, role }) => {
  const { settings, closed } = await launchClosed();
  expect(await signIn(closed, email, password)).toBeUndefined();
  const { status, stdout } = await run(['create-user', ...args], settings, `${password}\n`);
  const [, id] = /^Grace Hopper \((\w+)\) has an account with the role (?:MEMBER|ADMIN)\.\n$/.exec(stdout) ?? [];
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: `Grace Hopper (${id}) has an account with the role ${role}.\n`,
  });
  expect(await signIn(closed, email.toUpperCase(), password)).toEqual({ id, name: 'Grace Hopper', email, role });
  expect(await signIn(closed, email, 'another horse')).toBeUndefined();
});

it('the first account is created before the first start of a server, and a line says that the database is new', async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  const created = await run(['create-user', email, '--name', ' Zoe\u0308 '], settings, password);
  expect(created.status).toBe(0);
  const line = `postroom: created the database ${file}\n`;
  if (!isPostgresTest) expect(created.stderr).toContain(line);
  const second = await run(['create-user', 'eve@example.org', '--name', 'Eve'], settings, password);
  expect(second).toMatchObject({ status: 0, stderr: expect.not.stringContaining('postroom: ') });
  const closed = await launchForTest({ ...settings, SIGN_UP: 'closed' });
  // The name is stored as by signUp: composed, and without white space at its ends.
  expect(await signIn(closed, email, password)).toMatchObject({ name: 'Zo\u00eb' });
});

it('at a terminal, the password is typed twice, and is not shown', async () => {
  const { settings, closed } = await launchClosed();
  const args = ['create-user', email, '--name', 'Grace'];
  const { status, shown } = await typePasswords(args, settings, [password, password]);
  expect({ status, shown }).toMatchObject({ status: 0, shown: expect.stringContaining('has an account') });
  expect(shown).not.toContain('horse');
  expect(await signIn(closed, email, password)).toMatchObject({ name: 'Grace' });
});

describe('no account is created, and one line says why,', () => {
  const countUsers = async (postroom: Postroom): Promise<number> =>
    (await postroom.ask('{ users { pagination { total } } }')).users.pagination.total;

  it('for an e-mail address that is taken, in any case; the account stays as it is', async () => {
    const { settings, closed } = await launchClosed();
    const create = (address: string) => run(['create-user', address, '--name', 'Eve', '--admin'], settings, password);
    const created = await Promise.all([create(email), create(email)]);
    expect(created.map(({ status }) => status).sort()).toEqual([0, 1]);
    const taken = email.toUpperCase();
    const refusal = await runRefused(['create-user', taken, '--name', 'Grace'], settings, 'a new horse');
    expect(refusal).toBe(`postroom: the e-mail address ${taken} is taken`);
    expect(await signIn(closed, email, password)).toMatchObject({ name: 'Eve', role: 'ADMIN' });
    expect(await countUsers(closed)).toBe(1);
  });

  it('for a name, an e-mail address and a password that signUp refuses, and for other arguments', async () => {
    const { settings, closed } = await launchClosed();
    const create = (args: string[], input = password) => runRefused(['create-user', ...args], settings, input);
    const long = 'x'.repeat(81);
    const usage = 'usage: postroom create-user EMAIL --name NAME [--admin]';
    const expected = [
      `postroom: --name must have 1 to 80 characters, and no control or invisible characters (got "${long}"); EMAIL must have the form ada@example.org and at most 254 characters (got "grace")`,
      'postroom: the password must have 8 to 200 characters, and no NUL character',
      ...['postroom: --name is missing', 'postroom: --name is missing', usage, usage],
      expect.stringMatching(/^postroom: wrong arguments: Option '--name' argument is ambiguous/),
      expect.stringMatching(/^postroom: wrong arguments: Option '--name <value>' argument missing/),
      expect.stringMatching(/^postroom: wrong arguments: Unknown option '--role'/),
    ];
    const refusals = [
      create(['grace', '--name', long]),
      create([email, '--name', 'Grace'], 'x'.repeat(201)),
      ...[
        [email],
        ['--admin', email, '--name', ''],
        ['--name', 'Grace'],
        [email, '--name', 'Grace', password],
        [email, '--name', '--admin'],
        [email, '--name'],
        [email, '--name', 'Grace', '--role', 'ADMIN'],
      ].map((args) => create(args)),
    ];
    expect(await Promise.all(refusals)).toEqual(expected);
    expect(await countUsers(closed)).toBe(0);
  });
});
