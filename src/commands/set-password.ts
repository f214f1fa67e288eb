import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import * as users from '../data/domain/users.ts';
import { ClientError } from '../errors.ts';
import { Passwords } from '../identity/session/passwords.ts';
import { password as rule } from '../resolvers/rules/validation.ts';
import { assertHasPassword, changeNamedAccount } from './account.ts';

/** `set-password EMAIL|ID`: sets the account's password, which revokes all its sessions. Returns 0 when done. */
export function resetPassword(args: string[]): Promise<number> {
  return changeNamedAccount(args, 'set-password EMAIL|ID', async (_, account) => {
    assertHasPassword(account);
    const passwordHash = await new Passwords().hash(await readPassword(), { caller: '' });
    return async (db, { id, name }) => {
      await users.setPassword(db, id, passwordHash);
      const line = `${name} (${id}) has a new password, and all earlier sessions are revoked.`;
      return { events: [{ event: 'passwordChanged', userId: id, byUserId: null }], line };
    };
  });
}

/** Reads a line of standard input; at a terminal two equal ones, which are not shown. @throws ClientError. */
export async function readPassword(): Promise<string> {
  const { stdin, stderr } = process;
  // In the mode of a terminal, readline shows what is typed only on its own output.
  const output = new Writable({ write: (_chunk, _encoding, done) => done() });
  using input = createInterface({ input: stdin, output, terminal: stdin.isTTY, historySize: 0 });
  const lines = input[Symbol.asyncIterator]();
  const read = async (prompt: string): Promise<string> => {
    if (stdin.isTTY) stderr.write(prompt);
    const { value = '' } = await lines.next();
    if (stdin.isTTY) stderr.write('\n');
    return value;
  };
  const password = await read('New password: ');
  if (rule(password).length > 0)
    throw new ClientError('VALIDATION_ERROR', 'the password must have 8 to 200 characters, and no NUL character');
  if (stdin.isTTY && (await read('Repeat it: ')) !== password)
    throw new ClientError('VALIDATION_ERROR', 'the two passwords differ');
  return password;
}
