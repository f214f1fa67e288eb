import { randomUUID } from 'node:crypto';
import { type JWTHeaderParameters, errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../data/database.ts';
import type { UserRow } from '../../data/tables.ts';
import { type Account, findUser } from '../../data/users.ts';
import { ClientError } from '../../errors.ts';
import { scopes, type Viewer } from '../viewer.ts';
import type { SessionKeys } from './session-key.ts';

export const sessionIssuer = 'postroom';
const algorithm = 'EdDSA';
const maxVerified = 10_000;

export interface Session {
  accessToken: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
  user: UserRow;
}

interface Claims {
  userId: string;
  sessionId: string;
  sessionsFrom: number;
  expiresAt: number;
}

/** Creates and verifies session tokens: JWTs (EdDSA) with the user, the session and an expiry. */
export class Sessions {
  readonly #keys: SessionKeys;
  readonly #hours: number;
  /** A signature is verified once; the expiry and the state of the session are checked each time. */
  readonly #verified = new LRUCache<string, Claims>({ max: maxVerified });

  constructor(keys: SessionKeys, hours: number) {
    this.#keys = keys;
    this.#hours = hours;
  }

  /**
   * Starts a session, or renews the token of session `sessionId`. A password changed since `user` was read ends the
   * session.
   */
  async start(user: UserRow, sessionId: string = randomUUID()): Promise<Session & { viewer: Viewer }> {
    const { id: userId, sessionsFrom } = user;
    const now = Math.floor(Date.now() / 1_000);
    const end = now + this.#hours * 3_600;
    const accessToken = await new SignJWT({ sid: sessionId, at: sessionsFrom })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: this.#keys.id })
      .setIssuer(sessionIssuer)
      .setSubject(userId)
      .setIssuedAt(now)
      .setExpirationTime(end)
      .sign(this.#keys.sign);
    const expiresAt = end * 1_000;
    const viewer = createViewer(user, { userId, sessionId, sessionsFrom, expiresAt });
    return { accessToken, expiresAt, user, viewer };
  }

  /**
   * Finds the viewer of a token. @throws ClientError UNAUTHENTICATED if the token is not valid, or its session has
   * ended.
   */
  async findViewer(db: Db, token: string): Promise<Viewer> {
    const claims = this.#verified.get(token) ?? (await this.#verify(token));
    const user = claims.expiresAt > Date.now() ? await findUser(db, claims.userId) : undefined;
    if (!user) throw badToken();
    const viewer = createViewer(user, claims);
    if (!isSessionAlive(viewer, user)) throw badToken();
    return viewer;
  }

  async #verify(token: string): Promise<Claims> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }: JWTHeaderParameters) => this.#findKey(kid), {
        issuer: sessionIssuer,
        algorithms: [algorithm],
        typ: 'JWT',
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      // The signature does not guarantee the types of the claims.
      const { sub, iat = 0, exp = 0, sid = '', at = iat * 1_000 } = payload;
      const claims = { userId: String(sub), sessionId: String(sid), sessionsFrom: Number(at), expiresAt: exp * 1_000 };
      this.#verified.set(token, claims);
      return claims;
    } catch (error) {
      if (error instanceof joseErrors.JOSEError) throw badToken();
      throw error;
    }
  }

  #findKey(id: string | undefined) {
    const key = this.#keys.verify.get(id ?? this.#keys.id);
    if (!key) throw badToken();
    return key;
  }
}

/**
 * A session (of Postroom or of an issuer) ends when its account is deleted, or when a new password ends all sessions
 * but one.
 */
export function isSessionAlive(
  { credential }: Viewer,
  { deletedAt, sessionsFrom, keptSession }: Pick<Account, 'deletedAt' | 'sessionsFrom' | 'keptSession'>,
): boolean {
  if (deletedAt !== null) return false;
  if (credential.kind === 'apiKey') return true;
  if (credential.kind === 'oauth') return credential.startedAt >= sessionsFrom;
  return credential.sessionsFrom >= sessionsFrom || credential.id === keptSession;
}

function createViewer(user: UserRow, { sessionId, sessionsFrom, expiresAt }: Claims): Viewer {
  return { user, credential: { kind: 'session', id: sessionId, sessionsFrom }, scopes: new Set(scopes), expiresAt };
}

function badToken(): ClientError {
  return new ClientError('UNAUTHENTICATED', 'The access token is not valid, or has ended.');
}
