import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { createId } from '../../common/ids.ts';
import { toComposed } from '../../common/names.ts';
import { DatabaseUnavailable, type Db, type RowLock } from '../database/database.ts';
import { createPages, type PageArguments, type UserPage } from '../lists/pages.ts';
import { executeInParts } from '../sql/list-statements.ts';
import { createFinder } from '../sql/statement.ts';
import { isStorable, matches, toNamePattern } from '../sql/stored-text.ts';
import { type PublicUser, publicUserColumns, type UserRow, userColumns } from '../tables.ts';

export interface UserFilter {
  name?: string | null | undefined;
  createdAfter?: number | null | undefined;
  createdBefore?: number | null | undefined;
}

export interface NewUser {
  name: string;
  email?: string | null;
  passwordHash?: string | null;
  /** The default is now; an import gives the original time. */
  createdAt?: number;
  role?: UserRow['role'];
  /** The user's OAuth issuer and subject. */
  oauth?: OAuthSubject;
  sessionsFrom?: number;
}

interface OAuthSubject {
  issuer: string;
  subject: string;
}

/** E-mails are unique without regard to case, and to the form of an accented letter. */
export function emailKeyOf(email: string): string {
  return toComposed(email).toLowerCase();
}

export function createUserRow({
  name,
  email = null,
  passwordHash = null,
  createdAt = Date.now(),
  role = 'MEMBER',
  oauth,
  sessionsFrom = 0,
}: NewUser): UserRow {
  return {
    id: createId('User'),
    name,
    email,
    emailKey: email === null ? null : emailKeyOf(email),
    passwordHash,
    role,
    sessionsFrom,
    keptSession: null,
    oauthIssuer: oauth?.issuer ?? null,
    oauthSubject: oauth?.subject ?? null,
    createdAt,
    updatedAt: createdAt,
    version: 1,
    deletedAt: null,
  };
}

/** @throws UniqueViolation if the e-mail is taken. */
export async function insertUser(db: Db, user: NewUser): Promise<UserRow> {
  return db.insertInto('users').values(createUserRow(user)).returning(userColumns).executeTakeFirstOrThrow();
}

export function toPublicUser({ id, name, role, createdAt, updatedAt, version, deletedAt }: UserRow): PublicUser {
  return { id, name, role, createdAt, updatedAt, version, deletedAt };
}

/** The columns that decide whether credentials of an account are still valid. */
const credentialColumns = ['id', 'role', 'deletedAt', 'sessionsFrom'] as const;
export type CredentialState = Pick<UserRow, (typeof credentialColumns)[number]>;

export async function findCredentialStates(db: Db, ids: readonly string[]): Promise<CredentialState[]> {
  return executeInParts(db, ids, (part) => db.selectFrom('users').select(credentialColumns).where('id', 'in', part));
}

export const findUser = createFinder((db, { id }) =>
  db.selectFrom('users').select(publicUserColumns).where('id', '=', id),
);

/** The e-mails of users by their ids. */
export async function findEmails(db: Db, ids: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await db.selectFrom('users').select(['id', 'email']).where('id', 'in', ids).execute();
  return new Map(rows.map(({ id, email }) => [id, email]));
}

/** A user with the private columns. */
export const findAccount = createFinder((db, { id }) =>
  db.selectFrom('users').select(userColumns).where('id', '=', id),
);

const findByEmailKey = createFinder((db, { id: emailKey }) =>
  db.selectFrom('users').select(userColumns).where('emailKey', '=', emailKey),
);

export async function findAccountByEmail(db: Db, email: string, lock?: RowLock): Promise<UserRow | undefined> {
  return isStorable(email) ? findByEmailKey(db, emailKeyOf(email), lock) : undefined;
}

/**
 * Finds users without credentials by exact name: the authors of imported posts, the oldest last. They are not deleted
 * before the end of the transaction.
 */
export async function findImportedUsers(db: Db, names: readonly string[]): Promise<Pick<UserRow, 'id' | 'name'>[]> {
  return executeInParts(db, names, (part) =>
    db
      .selectFrom('users')
      .select(['id', 'name'])
      .where('name', 'in', part)
      .where('passwordHash', 'is', null)
      .where('email', 'is', null)
      .where('oauthSubject', 'is', null)
      .where('deletedAt', 'is', null)
      .where(sql<boolean>`not exists (select 1 from "apiKeys" where "userId" = "users"."id")`)
      .orderBy('id', 'desc')
      .forKeyShare(),
  );
}

interface UserValues extends Omit<UserFilter, 'name'> {
  name: string | false | null;
}

const userPages = createPages('users', (users, { name, createdAfter, createdBefore }: UserValues) => {
  let query = users.select(publicUserColumns).where('deletedAt', 'is', null);
  if (name != null) query = query.where(matches('name', name));
  if (createdAfter != null) query = query.where('createdAt', '>', createdAfter);
  if (createdBefore != null) query = query.where('createdAt', '<', createdBefore);
  return query.orderBy('createdAt').orderBy('id');
});

export function findUserPage(db: Db, filter: UserFilter, page: PageArguments): UserPage {
  return userPages(db, { ...filter, name: toNamePattern(filter.name) }, page);
}

/**
 * Changes a user that was read with an exclusive lock. An undefined property stays unchanged.
 * @throws UniqueViolation if the e-mail is taken.
 */
export async function updateUser(
  db: Db,
  user: UserRow,
  { name, email }: { name: string | undefined; email: string | null | undefined },
): Promise<UserRow> {
  return db
    .updateTable('users')
    .set({
      name,
      email,
      emailKey: email == null ? email : emailKeyOf(email),
      updatedAt: Date.now(),
      version: user.version + 1,
    })
    .where('id', '=', user.id)
    .where('version', '=', user.version)
    .returning(userColumns)
    .executeTakeFirstOrThrow();
}

/**
 * Sets a password and begins the next generation of sessions, which revokes all earlier sessions. The number
 * always increases, whatever the clock. The clock only ensures that no number is used again after the database has
 * returned to an earlier state: sessions of the generation that was lost would be valid again.
 */
export async function setPassword(db: Db, id: string, passwordHash: string): Promise<UserRow> {
  return beginSessions(db, { passwordHash }).where('id', '=', id).executeTakeFirstOrThrow();
}

/** Ends a generation of sessions. Undefined if it has ended before, or the account has no sessions. */
export async function endSessions(db: Db, id: string, sessionsFrom: number): Promise<UserRow | undefined> {
  const query = beginSessions(db, {}).where('id', '=', id).where('sessionsFrom', '=', sessionsFrom);
  return query.where('passwordHash', 'is not', null).executeTakeFirst();
}

function beginSessions(db: Db, changes: { passwordHash?: string }) {
  const now = Date.now();
  return db
    .updateTable('users')
    .set({
      ...changes,
      keptSession: null,
      sessionsFrom: sql<number>`case when "sessionsFrom" > ${now} then "sessionsFrom" else ${now} end + 1`,
    })
    .returning(userColumns);
}

/** Returns the changed user, or undefined if there is none. */
export async function setRole(db: Db, id: string, role: UserRow['role']): Promise<UserRow | undefined> {
  return db
    .updateTable('users')
    .set((eb) => ({ role, version: eb('version', '+', 1), updatedAt: Date.now() }))
    .where('id', '=', id)
    .where('deletedAt', 'is', null)
    .returning(userColumns)
    .executeTakeFirst();
}

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
