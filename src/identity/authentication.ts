import { decodeJwt } from 'jose';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config/config.ts';
import type { Database } from '../data/database/database.ts';
import { readsWithin } from '../data/database/measured-database.ts';
import { ClientError } from '../errors.ts';
import { type Log, logFailures } from '../log/log.ts';
import type { Span } from '../tracing/tracing.ts';
import { authenticateApiKey, looksLikeApiKey } from './api-key.ts';
import type { Audit } from './audit.ts';
import { CredentialWatch, type WatchCredentials } from './credential-watch.ts';
import type { TokenSender } from './oauth/introspection.ts';
import { OAuth } from './oauth/oauth.ts';
import { type Sessions, sessionIssuer } from './session/session.ts';
import { invalidToken, keyIdOf, type Viewer } from './viewer.ts';

/**
 * Finds the viewer of an `Authorization` header; null without a header. `span`: that of the operation.
 * @throws ClientError UNAUTHENTICATED.
 */
export type Authenticate = (authorization: string | undefined, address: string, span?: Span) => Promise<Viewer | null>;

interface IdentityParts {
  config: Pick<Config, 'oauth' | 'rate'>;
  database: Database;
  sessions: Sessions;
  audit: Audit;
  /** Charges refused credentials to the client's address. It may reject, and the error then replaces the refusal. */
  chargeAddress: (address: string) => Promise<void>;
  log: Log;
}

/** Creates the parts that verify the credentials of a request, and that watch the credentials of open connections. */
export function createIdentity(parts: IdentityParts) {
  const { config, database, audit, chargeAddress, log } = parts;
  const onRefused = (token: string) => credentials.refuseToken(token);
  const oauth = config.oauth && new OAuth(config.oauth, config.rate, log, onRefused);
  const viewers = new ViewerCache();
  const onError = logFailures(log, 'credentials could not be checked, and will be checked again');
  const credentials = new CredentialWatch({ db: database.checks, oauth, viewers, onError });
  /** Refused credentials are charged to the client's address, and audited within the rate of the address. */
  const authenticate: Authenticate = async (authorization, address, span) => {
    if (authorization === undefined) return null;
    try {
      return await viewers.findOrVerify(authorization, () => verify(parts, oauth, authorization, { address, span }));
    } catch (error) {
      if (error instanceof ClientError && error.code === 'UNAUTHENTICATED') {
        await chargeAddress(address);
        audit({ event: 'credentialsRefused', reason: error.message, address });
      }
      throw error;
    }
  };
  return {
    authenticate,
    watchCredentials: ((viewer, end) => credentials.watch(viewer, end)) satisfies WatchCredentials,
    credentials,
    stop() {
      credentials.stop();
      oauth?.close();
    },
  };
}

const maxLength = 8_192;
/** Three parts in Base64url. */
const jwt = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Finds the viewer of an `Authorization` header. Bad credentials are never treated as no credentials.
 * @throws ClientError UNAUTHENTICATED for bad credentials.
 */
async function verify(
  { database, sessions }: IdentityParts,
  oauth: OAuth | undefined,
  authorization: string,
  sender: TokenSender,
): Promise<Viewer> {
  const { scheme, token } = parseAuthorization(authorization);
  if (scheme.toLowerCase() === 'apikey') return authenticateApiKey(database, token, sender.span);
  // It must not be sent to the issuer.
  if (looksLikeApiKey(token)) {
    throw new ClientError('UNAUTHENTICATED', 'This is an API key: send it as "ApiKey <key>", not as "Bearer <key>".');
  }
  if (isSessionToken(token)) return sessions.authenticate(readsWithin(database, sender.span), token);
  if (!oauth) throw invalidToken();
  return oauth.authenticate(database, token, sender);
}

/** A JWT may be without a scheme. @throws ClientError UNAUTHENTICATED for any other form. */
function parseAuthorization(authorization: string): { scheme: string; token: string } {
  if (authorization.length <= maxLength) {
    if (jwt.test(authorization)) return { scheme: 'bearer', token: authorization };
    const [, scheme, token] = /^(bearer|apikey) +(\S+) *$/i.exec(authorization) ?? [];
    if (scheme && token) return { scheme, token };
  }
  throw new ClientError(
    'UNAUTHENTICATED',
    'The Authorization must have the form "Bearer <access token>" or "ApiKey <key>"; only a JWT may be without "Bearer".',
  );
}

/** Whether the token names Postroom as its issuer; its signature is verified later. */
function isSessionToken(token: string): boolean {
  try {
    return decodeJwt(token).iss === sessionIssuer;
  } catch {
    return false;
  }
}

/** In characters: the credentials' length, plus `viewerSize` per viewer. At most 10,000 viewers fit. */
const maxSize = 10_000_000;
const viewerSize = 1_000;
/** The maximum delay until credentials that another process revoked are refused here. */
const ttlMs = 1_000;

/** Caches the viewers of credentials, so that frequent requests do not read the database each time. */
class ViewerCache {
  /** The key is the whole text: a map compares no part of a key unless the whole hash is equal. */
  readonly #viewers = new LRUCache<string, Viewer>({
    maxSize,
    sizeCalculation: (_, authorization) => authorization.length + viewerSize,
    ttl: ttlMs,
    ttlResolution: 20,
    dispose: (viewer, authorization) => {
      for (const id of idsOf(viewer)) {
        const texts = this.#texts.get(id);
        if (texts?.delete(authorization) && texts.size === 0) this.#texts.delete(id);
      }
    },
  });
  /** The cached texts of each user and of each API key, by id. */
  readonly #texts = new Map<string, Set<string>>();
  /** The verifications that are running. */
  readonly #pending = new Map<string, Promise<Viewer>>();
  #generation = 0;

  /** Calls `verify` if the viewer is not cached; concurrent requests share one call. A refusal is not cached. */
  async findOrVerify(authorization: string, verify: () => Promise<Viewer>): Promise<Viewer> {
    const cached = this.#viewers.get(authorization);
    if (cached && cached.expiresAt > Date.now()) return cached;
    const pending = this.#pending.get(authorization) ?? this.#verify(authorization, verify);
    this.#pending.set(authorization, pending);
    try {
      return await pending;
    } finally {
      if (this.#pending.get(authorization) === pending) this.#pending.delete(authorization);
    }
  }

  /** Called when credentials of a user, or an API key, have been revoked. */
  forget(id: string): void {
    this.#generation += 1;
    for (const authorization of [...(this.#texts.get(id) ?? [])]) this.#viewers.delete(authorization);
    this.#pending.clear();
  }

  /** Called when any credentials may have been revoked. */
  clear(): void {
    this.#generation += 1;
    this.#viewers.clear();
    this.#pending.clear();
  }

  async #verify(authorization: string, verify: () => Promise<Viewer>): Promise<Viewer> {
    const generation = this.#generation;
    const viewer = await verify();
    // Credentials may have been revoked during `verify`; then the result is not cached.
    if (generation !== this.#generation) return viewer;
    this.#viewers.set(authorization, viewer);
    for (const id of idsOf(viewer)) this.#texts.set(id, (this.#texts.get(id) ?? new Set()).add(authorization));
    return viewer;
  }
}

function idsOf({ user, credential }: Viewer): string[] {
  return [user.id, keyIdOf(credential) ?? []].flat();
}
