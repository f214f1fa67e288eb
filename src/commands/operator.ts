import { type Config, readConfig } from '../config/config.ts';
import { type Database, DatabaseUnusable, type Db, type RowLock } from '../data/database/database.ts';
import { findMissingFile, openDatabase } from '../data/database/open-database.ts';
import { findAccount, findAccountByEmail } from '../data/domain/users.ts';
import type { UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import { type Audit, auditTo } from '../identity/audit.ts';
import { createLog } from '../log/log.ts';
import { WrongArguments } from './failure.ts';

/** What a command has that changes the database. */
interface Operator {
  config: Config;
  database: Database;
  /** Called after the commit. */
  audit: Audit;
}

/**
 * Runs a command that changes the database, which it creates if there is none. Prints the line that the command returns.
 * Returns 0 when done.
 */
export async function runAsOperator(change: (operator: Operator) => Promise<string>): Promise<number> {
  const config = readConfig();
  const missing = findMissingFile(config.databaseUrl);
  const database = await openDatabase(config.databaseUrl);
  try {
    const line = await change({ config, database, audit: auditTo(createLog(config.logLevel)) });
    if (missing !== undefined) process.stderr.write(`postroom: created the database ${missing}\n`);
    process.stdout.write(`${line}\n`);
    return 0;
  } finally {
    await database.close();
  }
}

/** Runs work in a transaction that locks an account, which it reads again. */
type Locked = <T>(work: (db: Db, account: UserRow) => Promise<T>) => Promise<T>;

/** Runs a command whose only argument is the e-mail address or the id of an account. Returns 0 when done. */
export async function changeNamedAccount(
  [name, ...rest]: string[],
  usage: string,
  change: (operator: Operator, found: UserRow, locked: Locked) => Promise<string>,
): Promise<number> {
  if (!name || rest.length > 0) throw new WrongArguments(usage);
  const missing = findMissingFile(readConfig().databaseUrl);
  if (missing !== undefined) throw new DatabaseUnusable(`there is no file ${missing}`);
  return runAsOperator(async (operator) => {
    const { database } = operator;
    const found = await findNamedAccount(database.db, name);
    return change(operator, found, (work) =>
      database.transaction(async (db) => work(db, await findNamedAccount(db, found.id, 'exclusive'))),
    );
  });
}

/** Finds an account by its e-mail address or its id. @throws ClientError NOT_FOUND. */
export async function findNamedAccount(db: Db, name: string, lock?: RowLock): Promise<UserRow> {
  const [find, kind] = name.includes('@') ? [findAccountByEmail, 'e-mail'] : [findAccount, 'id'];
  const account = await find(db, name, lock);
  if (!account) throw new ClientError('NOT_FOUND', `there is no account with the ${kind} ${name}`);
  if (account.deletedAt !== null) throw new ClientError('NOT_FOUND', `the account ${name} was deleted`);
  return account;
}
