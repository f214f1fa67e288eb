import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadSetting } from '../../config.ts';

/** The first key signs; all verify, so that tokens outlive a change of keys. */
export interface SessionKeys {
  id: string;
  sign: KeyObject;
  verify: ReadonlyMap<string, KeyObject>;
}

const pemBlock = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/g;

/** The Ed25519 keys of a PEM text (PKCS #8), the present one first. @throws Error where it holds none, or another kind. */
export function parseSessionKeys(pem: string): SessionKeys {
  const keys = [...pem.matchAll(pemBlock)].map(([block]) => createPrivateKey(block));
  const [sign] = keys;
  if (!sign || keys.some(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519')) {
    throw new Error('it is no Ed25519 key');
  }
  const verify = keys.map((key) => createPublicKey(key));
  const named = new Map(verify.map((key) => [idOf(key), key]));
  return { id: [...named.keys()][0] ?? '', sign, verify: named };
}

/** A key for as long as the process lives. */
export function createSessionKeys(): SessionKeys {
  return parseSessionKeys(createPem());
}

/**
 * The keys kept in `file`; one is created on the first start, readable by its owner alone, and again where the file is empty, as
 * a crash can leave it. @throws BadSetting where the file holds anything else.
 */
export function loadSessionKeys(file: string): SessionKeys {
  if (isEmpty(file)) createKeyFile(file);
  const pem = readFileSync(file, 'utf8');
  try {
    return parseSessionKeys(pem);
  } catch {
    throw new BadSetting(
      'SESSION_KEY',
      file,
      'that file holds an Ed25519 private key in PEM; without it, one is created',
    );
  }
}

/** Also where there is none. */
function isEmpty(file: string): boolean {
  try {
    return readFileSync(file, 'utf8').trim() === '';
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return true;
    throw error;
  }
}

/** Whole or not at all, and on the disk before it is used; where another process created one at the same moment, that one stays. */
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

/** A file's name is on the disk once its folder is. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
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
