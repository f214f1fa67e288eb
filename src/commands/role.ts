import { revokeAdminKeysOf } from '../data/domain/api-keys.ts';
import { countPostsOf } from '../data/domain/posts.ts';
import { setRole } from '../data/domain/users.ts';
import type { UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import { changeNamedAccount } from './account.ts';

const dayMs = 24 * 3_600_000;

/**
 * `grant-admin EMAIL|ID [--yes]`: makes the account an admin. E-mail addresses are not verified, so the account may belong to
 * a stranger: the command describes it, and changes nothing unless its id or `--yes` is given. Returns 0 when done.
 */
export function grantAdmin(args: string[]): Promise<number> {
  const [account = '', ...rest] = args.filter((arg) => arg !== '--yes');
  return changeRole('ADMIN', [account, ...rest], 'grant-admin EMAIL|ID [--yes]', ({ name, id, createdAt }, posts) => {
    const days = Math.floor((Date.now() - createdAt) / dayMs);
    const created = new Date(createdAt).toISOString();
    process.stdout.write(`${name} (${id}): created at ${created}; age in days: ${days}; posts: ${posts}\n`);
    if (!args.includes('--yes') && account !== id)
      throw new ClientError('CONFLICT', 'the e-mail address is not verified; if this is the account, add --yes');
  });
}

/** `revoke-admin EMAIL|ID`: makes the account a MEMBER, and revokes its keys with the scope ADMIN. Returns 0 when done. */
export function revokeAdmin(args: string[]): Promise<number> {
  return changeRole('MEMBER', args, 'revoke-admin EMAIL|ID', () => {});
}

function changeRole(
  role: UserRow['role'],
  args: string[],
  usage: string,
  confirm: (user: UserRow, posts: number) => void,
): Promise<number> {
  return changeNamedAccount(args, usage, async ({ database }, found) => {
    confirm(found, await countPostsOf(database.db, found.id));
    return async (db, { id, name }) => {
      await setRole(db, id, role);
      const revoked = role === 'ADMIN' ? [] : await revokeAdminKeysOf(db, id);
      const ofKeys = revoked.map((keyId) => ({ event: 'apiKeyRevoked', keyId, byUserId: null }) as const);
      const line = `${name} (${id}) is ${role === 'ADMIN' ? 'an' : 'no longer an'} admin.`;
      return { events: [{ event: 'roleChanged', userId: id, role }, ...ofKeys], line };
    };
  });
}
