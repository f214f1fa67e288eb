// Runs on SQLite and on PostgreSQL.
import { expect, it, onTestFinished } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { sendAs } from '../support/identity/credentials.ts';
import { audience, openIssuer } from '../support/identity/issuer.ts';
import { launchForTest } from '../support/server/postroom.ts';
import { statementsDuring } from '../support/server/statements.ts';
import { launchStreamFixture, signIn } from '../support/server/stream-fixture.ts';

/* With SIGN_UP=closed only the operator creates accounts. */

const signUp = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken user { id } } }';
const unknown = { name: 'Eve', email: 'eve@example.org', password: 'correct horse' };

const refusal = {
  data: { signUp: null },
  errors: [
    {
      message: 'Sign-up is closed: ask the operator of this server for an account.',
      locations: expect.any(Array),
      path: ['signUp'],
      extensions: { code: 'FORBIDDEN' },
    },
  ],
};

/** An address that has an account, one that has none, and inputs that an open server refuses for another reason. */
const inputsOf = (email: string) => [
  { ...unknown, email },
  unknown,
  { ...unknown, email: 'not an address' },
  { name: '', email: '', password: '' },
];

it('signUp is refused for every caller, with the same answer for every input', async () => {
  const { settings, postroom, ada, owner } = await launchStreamFixture();
  const createKey = 'mutation { createApiKey(input: { name: "app", scopes: [READ, WRITE, ADMIN] }) { key } }';
  const { key } = (await postroom.ask(createKey, {}, owner.token)).createApiKey;
  const closed = await launchForTest({ ...settings, SIGN_UP: 'closed' });
  for (const authorization of [undefined, `Bearer ${ada.token}`, `Bearer ${owner.token}`, `ApiKey ${key}`]) {
    const socket = await ProtocolSocket.open(closed.webSocketUrl, { init: { authorization } });
    for (const [index, input] of inputsOf(ada.email).entries()) {
      const { status, data, errors } = await sendAs(closed, authorization, signUp, { input });
      expect({ status, data, errors }).toEqual({ status: 403, ...refusal });
      const id = String(index);
      socket.subscribe(id, signUp, { input });
      const answer = await socket.take((message) => message.id === id && message.type === 'next');
      expect(answer.payload).toEqual(refusal);
    }
  }
  await signIn(closed, ada);
  // The setting is that of a server: nothing about it is stored.
  expect((await postroom.send(signUp, { input: unknown })).status).toBe(200);
});

it('a refused signUp executes no statement, and hashes no password', async () => {
  /** With this cost every hash fails. */
  const passwordCost = { memory: 0, passes: 0 };
  const open = await launchForTest({ LOG_LEVEL: 'silent' }, { passwordCost });
  expect((await open.send(signUp, { input: unknown })).status).toBe(500);
  const closed = await launchForTest({ LOG_LEVEL: 'debug', SIGN_UP: 'closed' }, { passwordCost });
  const statements = await statementsDuring(closed, async () => {
    for (const input of inputsOf('ada@example.org')) expect((await closed.send(signUp, { input })).status).toBe(403);
  });
  expect(statements).toEqual([]);
});

it('a refused signUp is no attempt to sign in', async () => {
  const closed = await launchForTest({ SIGN_IN_ATTEMPTS: '1', SIGN_UP: 'closed' });
  for (const input of inputsOf('ada@example.org')) expect((await closed.send(signUp, { input })).status).toBe(403);
  const attempt = 'mutation { signIn(input: { email: "eve@example.org", password: "correct horse" }) { accessToken } }';
  expect((await closed.send(attempt)).status).toBe(401);
  expect((await closed.send(attempt)).status).toBe(429);
});

it('the fields after a refused signUp run', async () => {
  const { settings, ada } = await launchStreamFixture();
  const closed = await launchForTest({ ...settings, SIGN_UP: 'closed' });
  const both =
    'mutation ($input: SignUpInput!) { signUp(input: $input) { expiresAt } createRoom(input: { name: "den" }) { room { name } } }';
  const { data, code } = await closed.send(both, { input: unknown }, ada.token);
  expect({ data, code }).toEqual({ data: { signUp: null, createRoom: { room: { name: 'den' } } }, code: 'FORBIDDEN' });
});

it('the first token of a configured issuer creates its user nevertheless', async () => {
  const issuer = await openIssuer();
  onTestFinished(() => issuer.close());
  const settings = { OAUTH_ISSUER: issuer.issuer, OAUTH_AUDIENCE: audience, SIGN_UP: 'closed' };
  const closed = await launchForTest(settings);
  const { status, data } = await sendAs(closed, `Bearer ${await issuer.signIn('bob')}`);
  expect({ status, data }).toEqual({
    status: 200,
    data: { viewer: { id: expect.any(String), name: expect.any(String) } },
  });
});
