import { randomUUID } from 'node:crypto';
import { type JWTHeaderParameters, type JWTPayload, errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../data/database/database.ts';
import { findAccount, toPublicUser } from '../../data/domain/users.ts';
import type { UserRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { findRevocation, invalidToken, scopes, type Viewer } from '../viewer.ts';
import type { SessionKeys } from './session-key.ts';

export const sessionIssuer = 'postroom';
const algorithm = 'EdDSA';
const maxVerified = 10_000;
/** In the header of a token, so that neither kind is accepted as the other. */
const [sessionType, linkType] = ['JWT', 'sign-in-link+jwt'];
const linkSeconds = 15 * 60;
/** Nodes with different keys are a mistake of the operator, who must be able to find it in the log. */
const unknownKey = 'The access token is not valid: it is signed with a key that this server does not have.';

interface Claims {
  userId: string;
  sessionId: string;
  sessionsFrom: number;
  /** Milliseconds since 1970. */
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
   * Starts a session, or renews the token of session `sessionId`. A password changed since `account` was read revokes
   * the session.
   */
  async start(account: UserRow, sessionId: string = randomUUID()) {
    const { token, expiresAt } = await this.#sign(sessionType, account, this.#hours * 3_600, { sid: sessionId });
    const { id: userId, sessionsFrom } = account;
    return { accessToken: token, viewer: createViewer(account, { userId, sessionId, sessionsFrom, expiresAt }) };
  }

  /** A token that signs in once. It has no state of its own: its use ends the generation of sessions that it names. */
  async createLink(account: UserRow): Promise<string> {
    return (await this.#sign(linkType, account, linkSeconds)).token;
  }

  /** Undefined if it is not a link of this server, or has expired. Whether it was used is not checked. */
  async readLink(token: string): Promise<Claims | undefined> {
    return this.#verify(token, linkType).catch((error: unknown) => {
      if (error instanceof ClientError) return undefined;
      throw error;
    });
  }

  /** Finds the viewer of a token. @throws ClientError UNAUTHENTICATED if the token or its session is not valid. */
  async authenticate(db: Db, token: string): Promise<Viewer> {
    const claims = this.#verified.get(token) ?? (await this.#verify(token, sessionType));
    const account = claims.expiresAt > Date.now() ? await findAccount(db, claims.userId) : undefined;
    if (!account) throw invalidToken();
    const viewer = createViewer(account, claims);
    if (findRevocation(viewer.credential, account) !== undefined) throw invalidToken();
    return viewer;
  }

  async #sign(typ: string, { id, sessionsFrom }: UserRow, seconds: number, own: JWTPayload = {}) {
    const now = Math.floor(Date.now() / 1_000);
    const claims = { iss: sessionIssuer, sub: id, at: sessionsFrom, iat: now, exp: now + seconds, ...own };
    const header = { alg: algorithm, typ, kid: this.#keys.id };
    const token = await new SignJWT(claims).setProtectedHeader(header).sign(this.#keys.sign);
    return { token, expiresAt: claims.exp * 1_000 };
  }

  /** @throws ClientError UNAUTHENTICATED. */
  async #verify(token: string, typ: string): Promise<Claims> {
    try {
      const { payload } = await jwtVerify(token, ({ kid }: JWTHeaderParameters) => this.#findKeyOrThrow(kid), {
        issuer: sessionIssuer,
        algorithms: [algorithm],
        typ,
        requiredClaims: ['sub', 'iat', 'exp'],
      });
      // The signature does not guarantee the types of the claims. A token without `at` is of the first generation.
      const { sub, exp = 0, sid = '', at = 0 } = payload;
      const claims = { userId: String(sub), sessionId: String(sid), sessionsFrom: Number(at), expiresAt: exp * 1_000 };
      if (typ === sessionType) this.#verified.set(token, claims);
      return claims;
    } catch (error) {
      throw error instanceof joseErrors.JOSEError ? invalidToken() : error;
    }
  }

  /** @throws ClientError UNAUTHENTICATED. */
  #findKeyOrThrow(id: string | undefined) {
    const key = this.#keys.verify.get(id ?? this.#keys.id);
    if (!key) throw new ClientError('UNAUTHENTICATED', unknownKey);
    return key;
  }
}

function createViewer(account: UserRow, { userId, sessionId, sessionsFrom, expiresAt }: Claims): Viewer {
  const credential = { kind: 'session', id: sessionId, sessionsFrom } as const;
  return { user: toPublicUser(account), chargedId: userId, credential, scopes: new Set(scopes), expiresAt };
}
