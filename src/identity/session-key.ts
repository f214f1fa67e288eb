import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { BadSetting } from '../config.ts';

export interface SessionKey {
  sign: KeyObject;
  verify: KeyObject;
}

/** The Ed25519 key of a PEM text (PKCS #8). @throws Error where it is none. */
export function parseSessionKey(pem: string): SessionKey {
  const sign = createPrivateKey(pem);
  if (sign.asymmetricKeyType !== 'ed25519') throw new Error('it is not an Ed25519 key');
  return { sign, verify: createPublicKey(sign) };
}

/** A key for as long as the process lives. */
export function createSessionKey(): SessionKey {
  const { privateKey: sign, publicKey: verify } = generateKeyPairSync('ed25519');
  return { sign, verify };
}

/** The key kept in `file`, made on the first start, readable by its owner alone. @throws BadSetting where it holds none. */
export function loadSessionKey(file: string): SessionKey {
  if (!existsSync(file)) keepNewKey(file);
  const pem = readFileSync(file, 'utf8');
  try {
    return parseSessionKey(pem);
  } catch {
    throw new BadSetting('SESSION_KEY', file, 'that file holds an Ed25519 private key in PEM; without it, one is made');
  }
}

/** Whole or not at all; where another process has made one at the same moment, that one stays. */
function keepNewKey(file: string): void {
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = `${file}.${process.pid}`;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  } finally {
    rmSync(draft);
  }
}
