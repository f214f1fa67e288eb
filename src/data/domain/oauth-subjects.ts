import { hash } from 'node:crypto';
import { DatabaseUnavailable, type Db } from '../database/database.ts';
import { type UserRow, userColumns } from '../tables.ts';
import { createUserRow, type OAuthSubject } from './users.ts';

/* The users of an issuer of access tokens. */

/** The user with this issuer and subject. */
export async function findAccountBySubject(db: Db, { issuer, subject }: OAuthSubject): Promise<UserRow | undefined> {
  return db
    .selectFrom('users')
    .select(userColumns)
    .where('oauthIssuer', '=', issuer)
    .where('oauthSubject', '=', subject)
    .executeTakeFirst();
}

/**
 * Finds the user of a subject, or creates it with the subject's first token; concurrent requests create it only once.
 * `startedAt` is the time when the token was issued, in milliseconds since 1970. Undefined if the token is older than the
 * deletion of the subject's previous account.
 */
export async function findOrCreateAccountBySubject(
  db: Db,
  oauth: OAuthSubject,
  { name, startedAt }: { name: string; startedAt: number },
): Promise<UserRow | undefined> {
  const sessionsFrom = (await findErasure(db, oauth)) + 1;
  if (startedAt < sessionsFrom) return undefined;
  await db
    .insertInto('users')
    .values(createUserRow({ name, oauth, sessionsFrom }))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  // The insert may have waited for the deletion of the account to be committed.
  if ((await findErasure(db, oauth)) >= sessionsFrom) throw new DatabaseUnavailable('the account is being deleted');
  return findAccountBySubject(db, oauth);
}

/** The latest time at which an account of this subject was erased; -1 if there was none. */
async function findErasure(db: Db, { issuer, subject }: OAuthSubject): Promise<number> {
  const { erasedAt } = await db
    .selectFrom('users')
    .select((eb) => eb.fn.max('deletedAt').as('erasedAt'))
    .where('oauthIssuer', 'is', null)
    .where('oauthSubject', '=', hashSubject(issuer, subject))
    .executeTakeFirstOrThrow();
  return erasedAt ?? -1;
}

/** The columns of a deleted user: the subject is a hash, by which later tokens find the deletion. */
export function eraseSubject({ oauthIssuer, oauthSubject }: UserRow): Pick<UserRow, 'oauthIssuer' | 'oauthSubject'> {
  const isKnown = oauthIssuer !== null && oauthSubject !== null;
  return { oauthIssuer: null, oauthSubject: isKnown ? hashSubject(oauthIssuer, oauthSubject) : null };
}

function hashSubject(issuer: string, subject: string): string {
  return hash('sha256', `${issuer} ${subject}`);
}
