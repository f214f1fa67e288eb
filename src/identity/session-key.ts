import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

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

/** The key kept in `file`, made on the first start, readable by its owner alone. */
export function loadSessionKey(file: string): SessionKey {
  if (!existsSync(file)) {
    const { privateKey } = generateKeyPairSync('ed25519');
    mkdirSync(dirname(file), { recursive: true });
    try {
      writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
    } catch (error) {
      // Another process may have made it at the same moment.
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
  }
  return parseSessionKey(readFileSync(file, 'utf8'));
}
