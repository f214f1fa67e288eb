import { readConfig } from '../config.ts';
import { revokeAdminKeysOf } from '../data/api-keys.ts';
import { openDatabase } from '../data/open-database.ts';
import type { UserRow } from '../data/tables.ts';
import { setRole } from '../data/users.ts';
import { auditTo } from '../identity/audit.ts';
import { createLog } from '../log.ts';

/** `grant-admin EMAIL`: makes the account an admin. Returns 0 when done, 1 if no account has this e-mail. */
export function grantAdmin(args: string[]): Promise<number> {
  return changeRole('grant-admin', 'ADMIN', args);
}

/**
 * `revoke-admin EMAIL`: sets the account's role to MEMBER, and revokes its keys with the scope ADMIN. Returns 0 when
 * done, 1 if no account has this e-mail.
 */
export function revokeAdmin(args: string[]): Promise<number> {
  return changeRole('revoke-admin', 'MEMBER', args);
}

async function changeRole(command: string, role: UserRow['role'], [email, ...rest]: string[]): Promise<number> {
  if (email === undefined || rest.length > 0) {
    process.stderr.write(`usage: postroom ${command} EMAIL\n`);
    return 1;
  }
  const { databaseUrl, logLevel } = readConfig();
  const database = await openDatabase(databaseUrl);
  try {
    const { user, revoked } = await database.transaction(async (db) => {
      const user = await setRole(db, email, role);
      return { user, revoked: user && role !== 'ADMIN' ? await revokeAdminKeysOf(db, user.id) : [] };
    });
    if (!user) {
      process.stderr.write(`postroom: there is no account with the e-mail ${email}\n`);
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
