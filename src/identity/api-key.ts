import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Database, Db } from '../data/database/database.ts';
import { readsWithin } from '../data/database/measured-database.ts';
import { findApiKeyByHash, findApiKeysOf, insertApiKey, type NewApiKey, setLastUsed } from '../data/domain/api-keys.ts';
import { findAccount, toPublicUser } from '../data/domain/users.ts';
import type { ApiKeyRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import type { Span } from '../tracing/tracing.ts';
import { type Credential, findRevocation, type Scope, scopes, type Viewer } from './viewer.ts';

/** The maximum number of keys of a user that are not revoked; the list of keys has one page. */
export const maxApiKeys = 100;
/** The resolution of the time at which a key was last used. */
const lastUsedMs = 60_000;

/**
 * Creates a key, whose text is shown once. Expired keys of the owner count until they are revoked, as they are listed until then.
 * @throws ClientError CONFLICT if the owner has the maximum number of keys.
 */
export async function createApiKey(
  db: Db,
  given: Omit<NewApiKey, 'prefix' | 'hash'>,
): Promise<{ key: string; apiKey: ApiKeyRow }> {
  const { ownerId } = given;
  if (ownerId !== null && (await findApiKeysOf(db, ownerId, maxApiKeys)).length === maxApiKeys) {
    throw new ClientError(
      'CONFLICT',
      `At most ${maxApiKeys} API keys per user, expired keys included; revoke one first.`,
    );
  }
  const key = generateKey();
  return { key, apiKey: await insertApiKey(db, { ...given, prefix: prefixOf(key), hash: hashKey(key) }) };
}

/** Finds the viewer of a key. @throws ClientError UNAUTHENTICATED if the key is unknown, revoked or expired. */
export async function authenticateApiKey(database: Database, key: string, span?: Span): Promise<Viewer> {
  const db = readsWithin(database, span);
  const row = isWellFormed(key) ? await findApiKeyByHash(db, hashKey(key)) : undefined;
  if (!row) throw invalidKey();
  const account = await findAccount(db, row.userId);
  const { ownerId } = row;
  const credential: Credential = { kind: 'apiKey', id: row.id, ownerId };
  if (!account || findRevocation(credential, account, row) !== undefined) throw invalidKey();
  const now = Date.now();
  if (row.lastUsedAt === null || now - row.lastUsedAt > lastUsedMs) {
    // The request does not wait for this write, and does not fail if the write fails.
    database.transaction((trx) => setLastUsed(trx, row.id, now)).catch(() => {});
  }
  const expiresAt = row.expiresAt ?? Number.POSITIVE_INFINITY;
  const chargedId = ownerId === null ? account.id : `keys of ${ownerId}`;
  return { user: toPublicUser(account), chargedId, credential, scopes: scopesOf(row), expiresAt };
}

export function scopesOf(row: ApiKeyRow): Set<Scope> {
  const named = row.scopes.split(' ');
  return new Set(scopes.filter((scope) => named.includes(scope)));
}

function invalidKey(): ClientError {
  return new ClientError('UNAUTHENTICATED', 'The API key is not valid: it is malformed, expired or revoked.');
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const brand = 'pr_live_';
/** 28 digits of base 62 are 166 random bits. */
const randomLength = 28;
const checksumLength = 6;
const form = new RegExp(`^${brand}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** Creates the text of a key. */
function generateKey(): string {
  const random = Array.from({ length: randomLength }, () => digits.charAt(randomInt(digits.length))).join('');
  return brand + random + checksumOf(random);
}

/** The first characters of a key, by which users recognise it. */
function prefixOf(key: string): string {
  return key.slice(0, brand.length + 6);
}

/** Whether the text begins like an API key of Postroom, even if it is not valid. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(brand);
}

/** Whether form and checksum are right: a typo is detected without a read of the database. */
function isWellFormed(key: string): boolean {
  if (!form.test(key)) return false;
  const random = key.slice(brand.length, -checksumLength);
  return key.slice(-checksumLength) === checksumOf(random);
}

/**
 * The key is random enough for a fast hash. It is found by its whole hash, so no comparison reveals a part of the key.
 */
export function hashKey(key: string): string {
  return hash('sha256', key);
}

function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  while (text.length < checksumLength) {
    text = digits.charAt(rest % digits.length) + text;
    rest = Math.floor(rest / digits.length);
  }
  return text;
}
