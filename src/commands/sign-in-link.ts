import { Sessions } from '../identity/session/session.ts';
import { loadOrCreateStoredKeys, readGivenKeys } from '../identity/session/session-key.ts';
import { assertHasPassword, changeNamedAccount } from './account.ts';

/** `sign-in-link EMAIL|ID`: prints the token of a link that signs the account in once. Returns 0 when done, else 1. */
export function signInLink(args: string[]): Promise<number> {
  return changeNamedAccount(args, 'sign-in-link EMAIL|ID', async ({ database, config }, found) => {
    assertHasPassword(found);
    const sessions = new Sessions(readGivenKeys(config) ?? loadOrCreateStoredKeys(database), config.sessionHours);
    return async (_, account) => ({
      events: [{ event: 'signInLinkCreated', userId: account.id, byUserId: null }],
      line: await sessions.createLink(account),
    });
  });
}
