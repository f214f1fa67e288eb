import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';

/** Creates a SESSION_KEY and signs access tokens that the server accepts. */
export class TokenMaker {
  readonly #key: KeyObject = generateKeyPairSync('ed25519').privateKey;

  get sessionKey(): string {
    return this.#key.export({ type: 'pkcs8', format: 'pem' }).toString();
  }

  /** An access token of this user that expires in `seconds`. */
  async sign(userId: string, seconds: number): Promise<string> {
    const now = Date.now() / 1_000;
    return new SignJWT({})
      .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT' })
      .setIssuer('postroom')
      .setSubject(userId)
      .setIssuedAt()
      .setExpirationTime(Math.ceil(now) + seconds)
      .sign(this.#key);
  }
}
