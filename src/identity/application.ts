import { findApiKeyByHash, touchApiKey } from '../data/api-keys.ts';
import type { Database } from '../data/database.ts';
import type { ApiKeyRow } from '../data/tables.ts';
import { findUser } from '../data/users.ts';
import { ClientError } from '../errors.ts';
import { hashApiKey, isApiKey } from './api-key.ts';
import { type Scope, scopes, type Viewer } from './viewer.ts';

/** How coarsely it is noted when a key was last used. */
const touchMs = 60_000;

/** The application that a key belongs to. @throws ClientError UNAUTHENTICATED where it is none of ours, revoked or ended. */
export async function findApplication({ db, transaction }: Database, key: string): Promise<Viewer> {
  if (!isApiKey(key)) throw badKey();
  const row = await findApiKeyByHash(db, hashApiKey(key));
  const user = row && isKeyAlive(row) ? await findUser(db, row.userId) : undefined;
  if (!row || !user || user.deletedAt !== null) throw badKey();
  const now = Date.now();
  if (row.lastUsedAt === null || now - row.lastUsedAt > touchMs) {
    // The request neither waits for this nor fails with it.
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
