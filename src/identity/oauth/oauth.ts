import { createHash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { OAuthSettings } from '../../config.ts';
import { asRepeatable, type Database } from '../../data/database.ts';
import { readsWithin } from '../../data/traced-database.ts';
import { findOrCreateSubject, findSubject, toPublicUser } from '../../data/users.ts';
import type { Log } from '../../log.ts';
import type { Span } from '../../tracing/span.ts';
import { findRevocation, invalidToken } from '../credential.ts';
import { type Scope, scopes, type Viewer } from '../viewer.ts';
import { IssuerLog } from './issuer-log.ts';
import { IssuerRequests } from './issuer-requests.ts';
import { toTokenError } from './token-error.ts';

/** Only asymmetric algorithms are allowed (RFC 8725, 3.1 and 3.2). */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const refreshIntervalMs = 600_000;
const introspectionTtlMs = 30_000;
const maxVerified = 10_000;
const maxNameLength = 80;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/**
 * Verifies the access tokens of one issuer: JWTs with its published keys (RFC 9068), opaque tokens by introspection
 * (RFC 7662).
 */
export class OAuth {
  readonly issuer: string;
  readonly #options: OAuthSettings;
  readonly #log: IssuerLog;
  readonly #requests = new IssuerRequests();
  readonly #verified = new LRUCache<string, JWTPayload>({ max: maxVerified });
  /** The claims of valid tokens and the reasons of refused tokens, so that neither is introspected for each request. */
  readonly #introspected = new LRUCache<string, JWTPayload | string>({ max: maxVerified, ttl: introspectionTtlMs });
  #keys: Promise<KeySet> | undefined;
  #refresh: NodeJS.Timeout | undefined;

  constructor(options: OAuthSettings, log: Pick<Log, 'debug' | 'warn'>) {
    this.#options = options;
    this.#log = new IssuerLog(log);
    this.issuer = options.issuer;
  }

  /**
   * Finds the viewer of a token; the first token of a subject creates its User.
   * @throws ClientError UNAUTHENTICATED for a bad token, BAD_GATEWAY or SERVICE_UNAVAILABLE if the issuer fails.
   */
  async findViewer(database: Database, token: string, span?: Span): Promise<Viewer> {
    try {
      const claims = isJwt(token) ? await this.#verify(token, span) : await this.#introspect(token, span);
      return await this.#findViewer(database, claims, span);
    } catch (error) {
      this.#log.record(error);
      throw error;
    }
  }

  close(): void {
    clearInterval(this.#refresh);
  }

  async #findViewer(database: Database, claims: JWTPayload, span: Span | undefined): Promise<Viewer> {
    const { sub, exp, iat = 0, scope, scp, name } = claims;
    // The claims of an introspection have no checked types.
    if (typeof sub !== 'string' || !sub) throw invalidToken('no sub');
    if (exp === undefined) throw invalidToken('no exp');
    const expiresAt = Number(exp) * 1_000;
    if (!(expiresAt > Date.now())) throw invalidToken('expired');
    const subject = { issuer: this.issuer, subject: sub };
    const startedAt = Number(iat) * 1_000;
    const create = () =>
      asRepeatable(
        database.transaction((trx) => findOrCreateSubject(trx, subject, { name: displayName(name, sub), startedAt }), {
          span,
        }),
      );
    const account = (await findSubject(readsWithin(database, span), subject)) ?? (await create());
    const credential = { kind: 'oauth', startedAt } as const;
    if (!account || findRevocation(credential, account) !== undefined) throw invalidToken('account deleted');
    return { user: toPublicUser(account), credential, scopes: scopesOf([scope, scp].flat()), expiresAt };
  }

  async #verify(token: string, span: Span | undefined): Promise<JWTPayload> {
    const hash = hashOf(token);
    const cached = this.#verified.get(hash);
    if (cached) return cached;
    try {
      // The claimed issuer is checked before the keys are loaded, so that a token of another issuer causes no request.
      if (decodeJwt(token).iss !== this.issuer) throw invalidToken('wrong iss');
      const { payload } = await jwtVerify(token, await this.#keySet(span), {
        issuer: this.issuer,
        audience: this.#options.audience,
        algorithms,
        typ: 'at+jwt',
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      this.#verified.set(hash, payload);
      return payload;
    } catch (error) {
      throw toTokenError(error);
    }
  }

  async #introspect(token: string, span: Span | undefined): Promise<JWTPayload> {
    const hash = hashOf(token);
    let result = this.#introspected.get(hash);
    if (result === undefined) {
      result = await this.#askIssuer(token, span);
      this.#introspected.set(hash, result);
    }
    if (typeof result === 'string') throw invalidToken(result);
    return result;
  }

  /** The claims of an opaque token, or the reason why it is not valid. */
  async #askIssuer(token: string, span: Span | undefined): Promise<JWTPayload | string> {
    const { introspectionUrl, clientId = '', clientSecret = '' } = this.#options;
    if (introspectionUrl === undefined) return 'not a JWT, and OAUTH_INTROSPECTION_URL is not set';
    const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
    const init = {
      method: 'POST',
      headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
    };
    const claims: JWTPayload = await this.#requests.send(introspectionUrl, init, span);
    return (claims['active'] === true ? this.#findFault(claims) : 'not active') ?? claims;
  }

  /** The reason why an active token is not valid for this server, or undefined. */
  #findFault({ iss = this.issuer, aud = [] }: JWTPayload): string | undefined {
    if (iss !== this.issuer) return 'wrong iss';
    return [aud].flat().includes(this.#options.audience) ? undefined : 'wrong aud';
  }

  /**
   * The issuer's keys. They stay cached during an outage of the issuer, and are reloaded in the background; an unknown
   * key id reloads them at most twice a minute.
   */
  #keySet(span: Span | undefined): Promise<KeySet> {
    this.#keys ??= this.#discover(span).catch((error) => {
      this.#keys = undefined;
      throw error;
    });
    return this.#keys;
  }

  async #discover(span: Span | undefined): Promise<KeySet> {
    const configuration = `${this.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const metadata = await this.#requests.send(configuration, {}, span);
    if (metadata['issuer'] !== this.issuer || typeof metadata['jwks_uri'] !== 'string') {
      throw new Error('its openid-configuration has no jwks_uri, or its issuer is not OAUTH_ISSUER');
    }
    // The operation that finds the issuer is also the first to load the keys; later loads belong to no operation.
    let first = span;
    const keys = createRemoteJWKSet(new URL(metadata['jwks_uri']), {
      cooldownDuration: 30_000,
      cacheMaxAge: Number.POSITIVE_INFINITY,
      [customFetch]: async (url, { headers }) => {
        const parent = first;
        first = undefined;
        return Response.json(await this.#requests.send(url, { headers }, parent));
      },
    });
    this.#refresh = setInterval(
      () => keys.reload().catch((error) => this.#log.record(toTokenError(error))),
      refreshIntervalMs,
    ).unref();
    return keys;
  }
}

/** A token that names scopes of Postroom has these scopes. A token that names none of them has READ and WRITE. */
function scopesOf(claimed: unknown[]): Set<Scope> {
  const named = claimed.flatMap((words) => (typeof words === 'string' ? words.toUpperCase().split(' ') : []));
  const ours = scopes.filter((known) => named.includes(known));
  return new Set(ours.length > 0 ? ours : ['READ', 'WRITE']);
}

/** A name that fits the rules for user names. */
function displayName(name: unknown, subject: string): string {
  const text = typeof name === 'string' && name.trim() !== '' ? name : subject;
  const clean = text
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim();
  return [...clean].slice(0, maxNameLength).join('') || 'someone';
}

function isJwt(token: string): boolean {
  return token.split('.').length === 3;
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}
