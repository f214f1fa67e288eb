import { type RawBuilder, sql } from 'kysely';
import { createId } from '../../common/ids.ts';
import type { Db } from '../database/database.ts';
import { executeInParts } from '../sql/list-statements.ts';
import { createFinder } from '../sql/statement.ts';
import { type ApiKeyRow, apiKeyColumns } from '../tables.ts';
import { insertUser } from './users.ts';

export interface NewApiKey extends Pick<ApiKeyRow, 'name' | 'prefix' | 'hash' | 'ownerId' | 'expiresAt'> {
  scopes: readonly string[];
}

/** Inserts a key, and the user that the application acts as. This user is an admin if the key has the scope ADMIN. */
export async function insertApiKey(db: Db, { scopes, ...key }: NewApiKey): Promise<ApiKeyRow> {
  const role = scopes.includes('ADMIN') ? 'ADMIN' : 'MEMBER';
  const { id: userId } = await insertUser(db, { name: key.name, role });
  const row = { ...key, id: createId('ApiKey'), scopes: scopes.join(' '), userId, createdAt: Date.now() };
  return db
    .insertInto('apiKeys')
    .values({ ...row, lastUsedAt: null, revokedAt: null })
    .returning(apiKeyColumns)
    .executeTakeFirstOrThrow();
}

export const findApiKey = createFinder((db, { id }) =>
  db.selectFrom('apiKeys').select(apiKeyColumns).where('id', '=', id),
);

export async function findApiKeys(db: Db, ids: readonly string[]): Promise<ApiKeyRow[]> {
  return executeInParts(db, ids, (part) => db.selectFrom('apiKeys').select(apiKeyColumns).where('id', 'in', part));
}

export async function findApiKeyByHash(db: Db, hash: string): Promise<ApiKeyRow | undefined> {
  return db.selectFrom('apiKeys').select(apiKeyColumns).where('hash', '=', hash).executeTakeFirst();
}

/** The keys of an owner that are not revoked, oldest first. */
export async function findApiKeysOf(db: Db, ownerId: string, limit: number): Promise<ApiKeyRow[]> {
  return db
    .selectFrom('apiKeys')
    .select(apiKeyColumns)
    .where('ownerId', '=', ownerId)
    .where('revokedAt', 'is', null)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function revokeApiKey(db: Db, id: string): Promise<void> {
  await revokeWhere(db, sql`"id" = ${id}`);
}

/** Revokes the keys of a deleted account, including the key of the application that acts as it. Returns their ids. */
export function revokeApiKeysOf(db: Db, ownerId: string): Promise<string[]> {
  // The index by owner has only keys that are not revoked: without this condition here, SQLite would read all keys.
  return revokeWhere(db, sql`("ownerId" = ${ownerId} and "revokedAt" is null or "userId" = ${ownerId})`);
}

/** Revokes the keys with the scope ADMIN of an owner. Returns their ids. */
export function revokeAdminKeysOf(db: Db, ownerId: string): Promise<string[]> {
  return revokeWhere(db, sql`"ownerId" = ${ownerId} and "scopes" like '%ADMIN%'`);
}

async function revokeWhere(db: Db, condition: RawBuilder<boolean>): Promise<string[]> {
  const rows = await db
    .updateTable('apiKeys')
    .set({ revokedAt: Date.now() })
    .where(condition)
    .where('revokedAt', 'is', null)
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

export async function setLastUsed(db: Db, id: string, lastUsedAt: number): Promise<void> {
  await db.updateTable('apiKeys').set({ lastUsedAt }).where('id', '=', id).execute();
}
