import { createPrivateKey, type KeyObject } from 'node:crypto';

const pemBlock = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----/g;

/** The Ed25519 keys of a PEM text (PKCS #8). @throws Error if there is no key, or another kind of key. */
export function parsePrivateKeys(pem: string): [KeyObject, ...KeyObject[]] {
  const [first, ...others] = [...pem.matchAll(pemBlock)].map(([block]) => createPrivateKey(block));
  if (!first || [first, ...others].some(({ asymmetricKeyType }) => asymmetricKeyType !== 'ed25519')) {
    throw new Error('The PEM text must contain Ed25519 keys only.');
  }
  return [first, ...others];
}
