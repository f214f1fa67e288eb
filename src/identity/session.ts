import { errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Db } from '../data/database.ts';
import type { UserRow } from '../data/tables.ts';
import { findUser } from '../data/users.ts';
import { ClientError } from '../errors.ts';
import type { SessionKey } from './session-key.ts';
import type { Viewer } from './viewer.ts';

const issuer = 'postroom';
const algorithm = 'EdDSA';
const maxTokenLength = 4_096;
const maxVerified = 10_000;

export interface Session {
  accessToken: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  user: UserRow;
}

interface Claims {
  userId: string;
  expiresAt: number;
}

/** Makes and reads session tokens: JWTs (EdDSA) that name the user and an end. */
export class Sessions {
  readonly #key: SessionKey;
  readonly #hours: number;
  /** A signature is checked once; the end is checked each time. */
  readonly #verified = new LRUCache<string, Claims>({ max: maxVerified });

  constructor(key: SessionKey, hours: number) {
    this.#key = key;
    this.#hours = hours;
  }

  async start(user: UserRow): Promise<Session> {
    const now = Math.floor(Date.now() / 1_000);
    const end = now + this.#hours * 3_600;
    const accessToken = await new SignJWT({})
      .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
      .setIssuer(issuer)
      .setSubject(user.id)
      .setIssuedAt(now)
      .setExpirationTime(end)
      .sign(this.#key.sign);
    return { accessToken, expiresAt: end * 1_000, user };
  }

  /** Whose token it is. @throws ClientError UNAUTHENTICATED where it is not ours, has ended, or its user is gone. */
  async findViewer(db: Db, token: string): Promise<Viewer> {
    const { userId, expiresAt } = this.#verified.get(token) ?? (await this.#verify(token));
    const user = expiresAt > Date.now() ? await findUser(db, userId) : undefined;
    if (!user || user.deletedAt !== null) throw badToken();
    return { user, expiresAt };
  }

  async #verify(token: string): Promise<Claims> {
    if (token.length > maxTokenLength) throw badToken();
    try {
      const { payload } = await jwtVerify(token, this.#key.verify, {
        issuer,
        algorithms: [algorithm],
        typ: 'JWT',
        requiredClaims: ['sub', 'exp'],
      });
      // A claim is as its signer wrote it: `sub` may be anything.
      const claims = { userId: String(payload.sub), expiresAt: (payload.exp ?? 0) * 1_000 };
      this.#verified.set(token, claims);
      return claims;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError) throw badToken();
      throw error;
    }
  }
}

function badToken(): ClientError {
  return new ClientError('UNAUTHENTICATED', 'The access token is not valid, or has ended.');
}
