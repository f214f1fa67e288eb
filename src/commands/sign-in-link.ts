import { BadSetting } from '../config/bad-setting.ts';
import { Sessions } from '../identity/session/session.ts';
import { readGivenKeys, readStoredKeys } from '../identity/session/session-key.ts';
import { assertHasPassword, changeNamedAccount } from './account.ts';

/** `sign-in-link EMAIL|ID`: prints the token of a link that signs the account in once. Returns 0 when done. */
export function signInLink(args: string[]): Promise<number> {
  return changeNamedAccount(args, 'sign-in-link EMAIL|ID', async ({ database, config }, found) => {
    assertHasPassword(found);
    const keys = readGivenKeys(config) ?? readStoredKeys(database);
    if (!keys) throw new BadSetting('SESSION_KEY', '', 'must be the key of the server: none is stored here');
    return async (_, account) => ({
      events: [{ event: 'signInLinkCreated', userId: account.id, byUserId: null }],
      line: await new Sessions(keys, config.sessionHours).createLink(account),
    });
  });
}
