import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sendAs } from '../support/identity/credentials.ts';
import { launchForTest, run, scratchFolder } from '../support/server/postroom.ts';

/** The audit events in a log, in order. */
function notesIn(log: readonly Record<string, unknown>[]): unknown[] {
  return log.flatMap(({ audit }) => audit ?? []);
}

it('connections, refusals and changes of rights are logged, one line each', async () => {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const postroom = await launchForTest({ ...settings, LOG_LEVEL: 'info' });
  const [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
  const ask = (mutation: string, token?: string) => postroom.ask(`mutation { ${mutation} }`, {}, token);
  const signIn = (password: string, email = ada.email) =>
    `signIn(input: { email: "${email}", password: "${password}" }) { expiresAt }`;
  await ask(signIn(ada.password));
  await sendAs(postroom, undefined, `mutation { ${signIn('wrong horse')} }`);
  await sendAs(postroom, undefined, `mutation { ${signIn(ada.email, ada.password)} }`);
  await sendAs(postroom, 'Bearer nonsense');
  const { createApiKey } = await ask(
    'createApiKey(input: { name: "app", scopes: [READ] }) { apiKey { id } }',
    ada.token,
  );
  const keyId: string = createApiKey.apiKey.id;
  await ask(`revokeApiKey(input: { id: "${keyId}" }) { apiKey { id } }`, ada.token);
  const change = `changePassword(input: { currentPassword: "${ada.password}", newPassword: "a new horse" }) { accessToken }`;
  const token: string = (await ask(change, ada.token)).changePassword.accessToken;
  const { createRoom } = await ask('createRoom(input: { name: "den", visibility: PRIVATE }) { room { id } }', token);
  const roomId: string = createRoom.room.id;
  await ask(`addRoomMember(input: { room: "${roomId}", user: "${bob.id}" }) { room { id } }`, token);
  await ask(`removeRoomMember(input: { room: "${roomId}", user: "${bob.id}" }) { room { id } }`, token);
  await ask(`deleteUser(input: { id: "${bob.id}" }) { user { id } }`, bob.token);
  const byAda = { byUserId: ada.id };
  await expect
    .poll(() => notesIn(postroom.log))
    .toEqual([
      { event: 'signedUp', userId: ada.id },
      { event: 'signedUp', userId: bob.id },
      { event: 'signedIn', userId: ada.id },
      { event: 'signInRefused', userId: ada.id, address: '127.0.0.1' },
      { event: 'signInRefused', userId: null, address: '127.0.0.1' },
      {
        event: 'credentialsRefused',
        reason: 'The access token is not valid: it is malformed, expired or revoked.',
        address: '127.0.0.1',
      },
      { event: 'apiKeyCreated', keyId, scopes: ['READ'], ...byAda },
      { event: 'apiKeyRevoked', keyId, ...byAda },
      { event: 'passwordChanged', userId: ada.id },
      { event: 'memberAdded', roomId, userId: bob.id, ...byAda },
      { event: 'memberRemoved', roomId, userId: bob.id, ...byAda },
      { event: 'accountDeleted', userId: bob.id },
    ]);
  const lines = async (...args: string[]) => {
    const { stderr } = await run(args, settings, 'a third horse');
    return notesIn(
      stderr
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    );
  };
  expect(await lines('grant-admin', ada.email, '--yes')).toEqual([
    { event: 'roleChanged', userId: ada.id, role: 'ADMIN' },
  ]);
  expect(await lines('revoke-admin', ada.email)).toEqual([{ event: 'roleChanged', userId: ada.id, role: 'MEMBER' }]);
  const [createdByOperator, granted] = [
    { event: 'signedUp', userId: expect.any(String), byUserId: null },
    { event: 'roleChanged', userId: expect.any(String), role: 'ADMIN' },
  ];
  expect(await lines('create-user', 'eve@example.org', '--name', 'Eve')).toEqual([createdByOperator]);
  expect(await lines('create-user', 'mia@example.org', '--name', 'Mia', '--admin')).toEqual([
    createdByOperator,
    granted,
  ]);
  expect(await lines('set-password', ada.email)).toEqual([
    { event: 'passwordChanged', userId: ada.id, byUserId: null },
  ]);
  expect(await lines('sign-in-link', ada.email)).toEqual([
    { event: 'signInLinkCreated', userId: ada.id, byUserId: null },
  ]);
  expect(await lines('key', 'create', '--name', 'x', '--scopes', 'read')).toEqual([
    { event: 'apiKeyCreated', keyId: expect.any(String), byUserId: null, scopes: ['READ'] },
  ]);
});
