import { type Config, readConfig } from '../config/config.ts';
import { type Database, DatabaseUnusable, type Db, type RowLock } from '../data/database/database.ts';
import { findMissingFile, openDatabase } from '../data/database/open-database.ts';
import { findAccount, findAccountByEmail } from '../data/domain/users.ts';
import type { UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import { type AuditEvent, auditTo } from '../identity/audit.ts';
import { createLog } from '../log/log.ts';
import { WrongArguments } from './failure.ts';

/** Runs in a transaction that locks the given account. The events are logged and the line is printed after the commit. */
type Change<Given extends UserRow[]> = (db: Db, ...given: Given) => Promise<{ events: AuditEvent[]; line: string }>;

/** Runs before the transaction. */
type Prepare<Given extends UserRow[]> = (parts: Parts, ...given: Given) => Promise<Change<Given>>;
type Parts = { database: Database; config: Config };

/** Runs a command whose only argument is the e-mail address or the id of an account. Returns 0 when done. */
export async function changeNamedAccount([name, ...rest]: string[], usage: string, prepare: Prepare<[UserRow]>) {
  if (!name || rest.length > 0) throw new WrongArguments(usage);
  const missing = findMissingFile(readConfig().databaseUrl);
  if (missing !== undefined) throw new DatabaseUnusable(`there is no file ${missing}`);
  return changeAsOperator(async (parts) => {
    const found = await findNamedAccount(parts.database.db, name);
    const change = await prepare(parts, found);
    return async (db) => change(db, await findNamedAccount(db, found.id, 'exclusive'));
  });
}

/** Runs a command that changes the database, which it creates if there is none. Returns 0 when done. */
export async function changeAsOperator(prepare: Prepare<[]>): Promise<number> {
  const config = readConfig();
  const missing = findMissingFile(config.databaseUrl);
  const database = await openDatabase(config.databaseUrl);
  try {
    const { events, line } = await database.transaction(await prepare({ database, config }));
    const audit = auditTo(createLog(config.logLevel));
    for (const event of events) audit(event);
    if (missing !== undefined) process.stderr.write(`postroom: created the database ${missing}\n`);
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
