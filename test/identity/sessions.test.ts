// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratchName } from '../support/rooms/names.ts';
import { launchProcessForTest, scratchFolder, unbundledProgram } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

const server = shareServer();

const payload = '{ accessToken expiresAt user { id name email version drafts { data { title } } } }';
const signUp = `mutation ($input: SignUpInput!) { signUp(input: $input) ${payload} }`;
const signIn = `mutation ($input: SignInInput!) { signIn(input: $input) ${payload} }`;
const renew = `mutation { renewSession ${payload} }`;
const hours = 3_600_000;

let people = 0;
function newAccount() {
  people += 1;
  return { name: 'Ada', email: `Account${people}@Example.org`, password: 'correct horse' };
}

const viewerOf = async (token: string) => (await server.postroom.ask('{ viewer { id email } }', {}, token)).viewer;

describe('signUp', () => {
  it('creates an account and signs in for a day', async () => {
    const input = newAccount();
    const before = Date.now();
    const { accessToken, expiresAt, user } = (await server.postroom.send(signUp, { input })).data.signUp;
    expect(user).toMatchObject({ name: 'Ada', version: 1 });
    expect(await viewerOf(accessToken)).toEqual({ id: user.id, email: input.email });
    expect(Date.parse(expiresAt)).toBeGreaterThanOrEqual(Math.floor(before / 1_000) * 1_000 + 24 * hours);
    expect(Date.parse(expiresAt)).toBeLessThanOrEqual(Date.now() + 24 * hours);
  });

  it('shows new users their own e-mail, and several new users each their own', async () => {
    const [first, second] = [newAccount(), newAccount()];
    const data = await server.postroom.ask(
      `mutation ($first: SignUpInput!, $second: SignUpInput!) {
        first: signUp(input: $first) { user { email } } second: signUp(input: $second) { user { email } }
      }`,
      { first, second },
    );
    expect(data).toEqual({ first: { user: { email: first.email } }, second: { user: { email: second.email } } });
  });

  it('does not sign in the rest of the request: the actor is the sender of the request', async () => {
    const mutation = `mutation ($input: SignUpInput!) {
      signUp(input: $input) { user { id } } createRoom(input: { name: "${scratchName()}" }) { room { id } }
    }`;
    const reply = await server.postroom.send(mutation, { input: newAccount() });
    expect(reply).toMatchObject({
      status: 294,
      code: 'UNAUTHENTICATED',
      data: { signUp: { user: {} }, createRoom: null },
    });
  });

  it('refuses an e-mail that is taken, without regard to case', async () => {
    const input = newAccount();
    await server.postroom.send(signUp, { input });
    for (const email of [input.email, input.email.toUpperCase(), input.email.toLowerCase()]) {
      const reply = await server.postroom.send(signUp, { input: { ...input, email } });
      expect(reply).toMatchObject({ status: 409, code: 'CONFLICT', data: { signUp: null } });
    }
  });

  it('gives the e-mail to one of many requests at the same time', async () => {
    const input = newAccount();
    const all = await Promise.all(Array.from({ length: 4 }, () => server.postroom.send(signUp, { input })));
    expect(all.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
  });

  it('takes a password of 8 to 200 characters', async () => {
    for (const password of ['12345678', '😀'.repeat(8), '😀'.repeat(200), ' '.repeat(8)]) {
      const input = { ...newAccount(), password };
      expect(await server.postroom.send(signUp, { input })).toMatchObject({ status: 200 });
      const { email } = input;
      expect(await server.postroom.send(signIn, { input: { email, password } })).toMatchObject({ status: 200 });
    }
    const refused = {
      '': 'too_short',
      '1234567': 'too_short',
      '😀😀😀😀😀😀😀': 'too_short',
      'long and\0': 'invalid',
      'long and\ud800': 'invalid',
    };
    for (const [password, issue] of [...Object.entries(refused), ['x'.repeat(201), 'too_long']]) {
      const reply = await server.postroom.send(signUp, { input: { ...newAccount(), password } });
      expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { signUp: null } });
      expect(reply.errors?.[0]?.extensions.details).toEqual([{ field: 'password', issue }]);
    }
  });

  it('reports every problem of the input together', async () => {
    const reply = await server.postroom.send(signUp, { input: { name: '', email: '', password: '' } });
    expect(reply).toMatchObject({ status: 422, code: 'VALIDATION_ERROR', data: { signUp: null } });
    expect(reply.errors?.[0]?.extensions.details).toEqual(
      ['name', 'email', 'password'].map((field) => ({ field, issue: 'too_short' })),
    );
  });

  it('keeps the password as an argon2id hash with a salt of its own', async () => {
    const accounts = [newAccount(), newAccount()];
    const file = join(scratchFolder(), 'postroom.db');
    // Servers in the process of a test, and the bundled program, hash at a lower cost.
    const postroom = await launchProcessForTest({ DATABASE_URL: `sqlite:${file}` }, unbundledProgram);
    for (const input of accounts) await postroom.send(signUp, { input });
    const hashes = withDatabase(file, (database) =>
      accounts.map(
        ({ email }) =>
          database.prepare('select "passwordHash" as hash from users where email = ?').get(email)?.['hash'],
      ),
    );
    for (const hash of hashes) expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[^$]{22}\$[^$]{43}$/);
    expect(hashes[0]).not.toBe(hashes[1]);
  });
});

describe('signIn', () => {
  it('signs in by e-mail, without regard to case, and password', async () => {
    const input = newAccount();
    const { user } = (await server.postroom.send(signUp, { input })).data.signUp;
    const room = await server.postroom.createRoom(await server.postroom.signUp('Owner'), scratchName());
    const { email, password } = input;
    for (const spelled of [email, email.toLowerCase(), email.toUpperCase()]) {
      const session = (await server.postroom.send(signIn, { input: { email: spelled, password } })).data.signIn;
      expect(session.user).toMatchObject({ id: user.id, email });
      expect(await viewerOf(session.accessToken)).toEqual({ id: user.id, email });
      await server.postroom.ask(
        'mutation ($room: ID!) { createPost(input: { room: $room, title: "draft", publish: false }) { post { id } } }',
        { room },
        session.accessToken,
      );
    }
    // Users see their own private fields, including drafts.
    const last = (await server.postroom.send(signIn, { input: { email, password } })).data.signIn;
    expect(last.user.drafts.data).toEqual(Array(3).fill({ title: 'draft' }));
  });

  it('gives the same answer to a wrong password and to an unknown e-mail', async () => {
    const input = newAccount();
    await server.postroom.send(signUp, { input });
    const { email, password } = input;
    const answers = await Promise.all(
      [
        { email, password: 'wrong horse' },
        { email, password: '' },
        { email, password: `${password} ` },
        { email, password: password.toUpperCase() },
        { email: 'nobody@example.org', password },
        { email: '', password: '' },
        { email: 'not an e-mail', password },
        { email: '\0', password: '\0' },
        { email: '\ud800@example.org', password },
        { email, password: 'x'.repeat(100_000) },
      ].map(async (wrong) => {
        const { status, headers, data, errors } = await server.postroom.send(signIn, { input: wrong });
        return { status, challenge: headers.get('www-authenticate'), data, errors };
      }),
    );
    const [first] = answers;
    expect(first).toMatchObject({ status: 401, challenge: 'Bearer realm="postroom"', data: { signIn: null } });
    expect(first?.errors?.[0]).toMatchObject({ extensions: { code: 'UNAUTHENTICATED' } });
    for (const answer of answers) expect(answer).toEqual(first);
  });

  it('is refused for users from imported history', async () => {
    withDatabase(server.databaseFile, (database) =>
      database.exec(
        `insert into users (id, name, "createdAt", "updatedAt", version) values ('u1', 'imported', 1, 1, 1)`,
      ),
    );
    const reply = await server.postroom.send(signIn, { input: { email: 'imported', password: '' } });
    expect(reply).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
  });
});

describe('renewSession', () => {
  it('returns a new token for a valid one, with the same rights', async () => {
    const ada = await server.postroom.signUp('Ada');
    const { accessToken, expiresAt, user } = (await server.postroom.send(renew, {}, ada.token)).data.renewSession;
    expect(user).toMatchObject({ id: ada.id, email: ada.email });
    expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 23 * hours);
    expect(await viewerOf(accessToken)).toEqual({ id: ada.id, email: ada.email });
    expect(await viewerOf(ada.token)).toEqual({ id: ada.id, email: ada.email });
  });

  it('is UNAUTHENTICATED without a valid token', async () => {
    expect(await server.postroom.send(renew)).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
      data: { renewSession: null },
    });
  });
});

describe('the viewer', () => {
  it('is null without credentials', async () => {
    expect(await server.postroom.ask('{ viewer { id } }')).toEqual({ viewer: null });
  });
});
