import { readConfig } from '../config.ts';
import { openDatabase } from '../data/database.ts';
import { grantAdmin } from '../data/users.ts';

/** `grant-admin EMAIL`: makes the account an admin. 0: done, 1: there is none of this e-mail. */
export async function grantAdminTo([email, ...rest]: string[]): Promise<number> {
  if (email === undefined || rest.length > 0) {
    process.stderr.write('usage: postroom grant-admin EMAIL\n');
    return 1;
  }
  const database = await openDatabase(readConfig().databaseUrl);
  try {
    const user = await database.transaction((db) => grantAdmin(db, email));
    if (user) process.stdout.write(`${user.name} (${user.id}) is an admin.\n`);
    else process.stderr.write(`postroom: there is no account of ${email}\n`);
    return user ? 0 : 1;
  } finally {
    await database.close();
  }
}
