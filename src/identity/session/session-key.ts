import { createPublicKey, generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncPath } from '../../common/sync-path.ts';
import { BadSetting } from '../../config/bad-setting.ts';
import type { Config } from '../../config/config.ts';
import { isPostgresUrl } from '../../config/database-url.ts';
import { parsePrivateKeys } from '../../config/private-keys.ts';
import type { Database, DatabaseState } from '../../data/database/database.ts';

/** The first key signs. All keys verify, so that tokens stay valid after a change of keys. */
export interface SessionKeys {
  id: string;
  sign: KeyObject;
  verify: ReadonlyMap<string, KeyObject>;
}

/**
 * The Ed25519 keys of a PEM text (PKCS #8), the current key first. @throws Error if there is no key, or another kind of
 * key.
 */
function parseSessionKeys(pem: string): SessionKeys {
  const keys = parsePrivateKeys(pem);
  const verify = keys.map((key) => createPublicKey(key));
  const byId = new Map(verify.map((key) => [idOf(key), key]));
  return { id: [...byId.keys()][0] ?? '', sign: keys[0], verify: byId };
}

/**
 * The keys of SESSION_KEY; undefined if they are stored with the database. @throws BadSetting if there are none and
 * several nodes may share the database: a key that one node creates would be unknown to the others.
 */
export function readGivenKeys({ sessionKey, databaseUrl }: Config): SessionKeys | undefined {
  if (sessionKey !== undefined) return parseSessionKeys(sessionKey);
  if (!isPostgresUrl(databaseUrl)) return undefined;
  const rule = 'needs SESSION_KEY, the same for all nodes; `openssl genpkey -algorithm ed25519` creates one';
  throw new BadSetting('DATABASE_URL', databaseUrl, rule);
}

/**
 * The keys that are stored with the database. If their file is missing, or empty after a crash, a key is created; only the
 * owner of the file can read it. Without a folder the key lasts as long as the database: until the process ends.
 * @throws BadSetting if the file has any other content.
 */
export function loadOrCreateStoredKeys({ folder }: Database): SessionKeys {
  if (folder === undefined) return parseSessionKeys(createPem());
  const file = fileIn(folder);
  if (isEmpty(file)) createKeyFile(file);
  return readSessionKeys(file);
}

/** The keys that are stored with the database, if there are any. Creates none. @throws BadSetting if they are invalid. */
export function readStoredKeys({ folder }: Pick<DatabaseState, 'folder'>): SessionKeys | undefined {
  return folder === undefined || isEmpty(fileIn(folder)) ? undefined : readSessionKeys(fileIn(folder));
}

function fileIn(folder: string): string {
  return join(folder, 'session-key.pem');
}

function readSessionKeys(file: string): SessionKeys {
  const pem = readFileSync(file, 'utf8');
  try {
    return parseSessionKeys(pem);
  } catch {
    throw new BadSetting('SESSION_KEY', file, 'must be an Ed25519 private key in PEM; delete the file to create one');
  }
}

/** Also true if the file does not exist. */
function isEmpty(file: string): boolean {
  return !existsSync(file) || readFileSync(file, 'utf8').trim() === '';
}

/**
 * Creates the file atomically, and stores it on the disk before it is used. If another process creates the file at the
 * same time, the file of that process stays.
 */
function createKeyFile(file: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, createPem(), { mode: 0o600, flush: true });
  if (isEmpty(file)) rmSync(file, { force: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  } finally {
    rmSync(draft);
  }
  syncPath(dirname(file));
}

function createPem(): string {
  return String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function idOf(key: KeyObject): string {
  return hash('sha256', key.export({ type: 'spki', format: 'der' }), 'base64url').slice(0, 12);
}
