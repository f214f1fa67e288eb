import { findApiKeyByHash, touchApiKey } from '../data/api-keys.ts';
import type { Database } from '../data/database.ts';
import type { ApiKeyRow } from '../data/tables.ts';
import { findUser } from '../data/users.ts';
import { ClientError } from '../errors.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import { type Scope, scopes, type Viewer } from './viewer.ts';

/** The resolution of the time at which a key was last used. */
const touchMs = 60_000;

/** Finds the application of a key. @throws ClientError UNAUTHENTICATED if the key is unknown, revoked or expired. */
export async function findApplication({ db, transaction }: Database, key: string): Promise<Viewer> {
  if (!isApiKey(key)) throw badKey();
  const row = await findApiKeyByHash(db, hashApiKey(key));
  const user = row && isKeyAlive(row) ? await findUser(db, row.userId) : undefined;
  if (!row || !user || user.deletedAt !== null) throw badKey();
  const now = Date.now();
  if (row.lastUsedAt === null || now - row.lastUsedAt > touchMs) {
    // The request does not wait for this write, and does not fail if the write fails.
    transaction((trx) => touchApiKey(trx, row.id, now)).catch(() => {});
  }
  return {
    user,
    credential: { kind: 'apiKey', id: row.id },
    scopes: scopesOf(row),
    expiresAt: row.expiresAt ?? Number.POSITIVE_INFINITY,
  };
}

export function isKeyAlive({ revokedAt, expiresAt }: ApiKeyRow): boolean {
  return revokedAt === null && (expiresAt === null || expiresAt > Date.now());
}

export function scopesOf(row: ApiKeyRow): Set<Scope> {
  const named = row.scopes.split(' ');
  return new Set(scopes.filter((scope) => named.includes(scope)));
}

function badKey(): ClientError {
  return new ClientError('UNAUTHENTICATED', 'The API key is not valid, or has ended.');
}
