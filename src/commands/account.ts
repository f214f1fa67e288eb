import { type Config, readConfig } from '../config.ts';
import type { Database, Db, RowLock } from '../data/database.ts';
import { openDatabase } from '../data/open-database.ts';
import type { UserRow } from '../data/tables.ts';
import { findAccount, findAccountByEmail } from '../data/users.ts';
import { ClientError } from '../errors.ts';
import { type AuditEvent, auditTo } from '../identity/audit.ts';
import { createLog } from '../log.ts';

/** Runs in a transaction in which the account is locked. The events are logged and the line is printed after the commit. */
type Change = (db: Db, account: UserRow) => Promise<{ events: readonly AuditEvent[]; line: string }>;

/** Runs before the transaction. Undefined: nothing is changed. */
type Prepare = (account: UserRow, parts: { database: Database; config: Config }) => Promise<Change | undefined>;

/** Runs a command whose only argument is the e-mail address or the id of an account. Returns 0 when done, else 1. */
export async function changeNamedAccount([name, ...rest]: string[], usage: string, prepare: Prepare): Promise<number> {
  if (!name || rest.length > 0) {
    process.stderr.write(`usage: postroom ${usage}\n`);
    return 1;
  }
  const config = readConfig();
  const database = await openDatabase(config.databaseUrl);
  try {
    const found = await findNamedAccount(database.db, name);
    const change = await prepare(found, { database, config });
    if (!change) return 1;
    const work = async (db: Db) => change(db, await findNamedAccount(db, found.id, 'exclusive'));
    const { events, line } = await database.transaction(work);
    const audit = auditTo(createLog(config.logLevel));
    for (const event of events) audit(event);
    process.stdout.write(`${line}\n`);
    return 0;
  } finally {
    await database.close();
  }
}

/** Finds an account by its e-mail address or its id. @throws ClientError NOT_FOUND. */
export async function findNamedAccount(db: Db, name: string, lock?: RowLock): Promise<UserRow> {
  const [find, kind] = name.includes('@') ? [findAccountByEmail, 'e-mail'] : [findAccount, 'id'];
  const account = await find(db, name, lock);
  if (!account) throw new ClientError('NOT_FOUND', `there is no account with the ${kind} ${name}`);
  if (account.deletedAt !== null) throw new ClientError('NOT_FOUND', `the account ${name} was deleted`);
  return account;
}

/** Only an account with a password has sessions. @throws ClientError CONFLICT for one of an issuer, an API key or an import. */
export function assertHasPassword({ id, passwordHash }: UserRow): void {
  if (passwordHash !== null) return;
  const kind = 'it is that of an OAuth issuer, an API key or an import';
  throw new ClientError('CONFLICT', `the account ${id} does not sign in with a password: ${kind}`);
}
