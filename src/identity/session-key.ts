import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadSetting } from '../config.ts';

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

/** The keys kept in `file`; one is made on the first start, readable by its owner alone. @throws BadSetting where it holds none. */
export function loadSessionKeys(file: string): SessionKeys {
  if (!existsSync(file)) keepNewKey(file);
  const pem = readFileSync(file, 'utf8');
  try {
    return parseSessionKeys(pem);
  } catch {
    throw new BadSetting('SESSION_KEY', file, 'that file holds an Ed25519 private key in PEM; without it, one is made');
  }
}

/** Whole or not at all; where another process has made one at the same moment, that one stays. */
function keepNewKey(file: string): void {
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, createPem(), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
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
