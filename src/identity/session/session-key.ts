import { createHash, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadSetting } from '../../bad-setting.ts';
import { parsePrivateKeys } from '../../private-keys.ts';
import { syncFolder } from '../../sync-folder.ts';

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
export function parseSessionKeys(pem: string): SessionKeys {
  const keys = parsePrivateKeys(pem);
  const verify = keys.map((key) => createPublicKey(key));
  const byId = new Map(verify.map((key) => [idOf(key), key]));
  return { id: [...byId.keys()][0] ?? '', sign: keys[0], verify: byId };
}

/** Creates a key that is not stored, and is lost when the process ends. */
export function createSessionKeys(): SessionKeys {
  return parseSessionKeys(createPem());
}

/**
 * Loads the keys from `file`. If the file is missing, or empty after a crash, a key is created; only the owner of the
 * file can read it. @throws BadSetting if the file has any other content.
 */
export function loadOrCreateSessionKeys(file: string): SessionKeys {
  if (isEmpty(file)) createKeyFile(file);
  return readSessionKeys(file);
}

/** @throws BadSetting if the file exists, is not empty, and contains no keys. */
export function assertSessionKeys(file: string): void {
  if (!isEmpty(file)) readSessionKeys(file);
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
  try {
    return readFileSync(file, 'utf8').trim() === '';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    throw error;
  }
}

/**
 * Creates the file atomically, and stores it on the disk before it is used. If another process creates the file at the
 * same time, the file of that process stays.
 */
function createKeyFile(file: string): void {
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, createPem(), { mode: 0o600, flush: true });
  if (isEmpty(file)) rmSync(file, { force: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
  syncFolder(dirname(file));
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

function createPem(): string {
  return String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
}

function idOf(key: KeyObject): string {
  return createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('base64url')
    .slice(0, 12);
}
