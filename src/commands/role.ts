import { readConfig } from '../config.ts';
import { revokeAdminKeysOf } from '../data/api-keys.ts';
import { openDatabase } from '../data/open-database.ts';
import { countPostsOf } from '../data/posts.ts';
import type { UserRow } from '../data/tables.ts';
import { findAccount, findAccountByEmail, setRole } from '../data/users.ts';
import { auditTo } from '../identity/audit.ts';
import { createLog } from '../log.ts';

const dayMs = 24 * 3_600_000;

/**
 * `grant-admin EMAIL|ID [--yes]`: makes the account an admin. E-mail addresses are not verified, so the account may belong to
 * a stranger: the command describes it, and changes nothing unless its id or `--yes` is given. Returns 0 when done, else 1.
 */
export function grantAdmin(args: string[]): Promise<number> {
  const [account = '', ...rest] = args.filter((arg) => arg !== '--yes');
  return changeRole('ADMIN', [account, ...rest], 'grant-admin EMAIL|ID [--yes]', ({ name, id, createdAt }, posts) => {
    const days = Math.floor((Date.now() - createdAt) / dayMs);
    const created = new Date(createdAt).toISOString();
    process.stdout.write(`${name} (${id}): created at ${created}; age in days: ${days}; posts: ${posts}\n`);
    if (args.includes('--yes') || !isEmail(account)) return true;
    process.stderr.write(`postroom: the e-mail address is not verified; if this is the account, add --yes\n`);
    return false;
  });
}

/**
 * `revoke-admin EMAIL|ID`: sets the account's role to MEMBER, and revokes its keys with the scope ADMIN. Returns 0 when
 * done, 1 if there is no such account.
 */
export function revokeAdmin(args: string[]): Promise<number> {
  return changeRole('MEMBER', args, 'revoke-admin EMAIL|ID', () => true);
}

async function changeRole(
  role: UserRow['role'],
  [account, ...rest]: string[],
  usage: string,
  confirm: (user: UserRow, posts: number) => boolean,
): Promise<number> {
  if (!account || rest.length > 0) {
    process.stderr.write(`usage: postroom ${usage}\n`);
    return 1;
  }
  const { databaseUrl, logLevel } = readConfig();
  const database = await openDatabase(databaseUrl);
  try {
    const find = isEmail(account) ? findAccountByEmail : findAccount;
    const found = await find(database.db, account);
    if (found && !confirm(found, await countPostsOf(database.db, found.id))) return 1;
    const { user, revoked } = await database.transaction(async (db) => {
      const user = found && (await setRole(db, found.id, role));
      return { user, revoked: user && role !== 'ADMIN' ? await revokeAdminKeysOf(db, user.id) : [] };
    });
    if (!user) {
      process.stderr.write(`postroom: there is no account with the ${isEmail(account) ? 'e-mail' : 'id'} ${account}\n`);
      return 1;
    }
    const audit = auditTo(createLog(logLevel));
    audit({ event: 'roleChanged', userId: user.id, role });
    for (const keyId of revoked) audit({ event: 'apiKeyRevoked', keyId, byUserId: null });
    process.stdout.write(`${user.name} (${user.id}) is ${role === 'ADMIN' ? 'an' : 'no longer an'} admin.\n`);
    return 0;
  } finally {
    await database.close();
  }
}

function isEmail(account: string): boolean {
  return account.includes('@');
}
