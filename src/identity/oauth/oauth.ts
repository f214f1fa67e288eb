import { hash } from 'node:crypto';
import { createRemoteJWKSet, customFetch, decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { WindowOptions } from '../../common/fixed-window.ts';
import { forEachConcurrently } from '../../common/for-each-concurrently.ts';
import { controlCharacter, invisibleCharacter, maxNameLength, toName, visibleCharacter } from '../../common/names.ts';
import type { OAuthSettings } from '../../config/config.ts';
import { asRepeatable, type Database, type Db } from '../../data/database/database.ts';
import { readsWithin } from '../../data/database/measured-database.ts';
import { findAccountBySubject, findOrCreateAccountBySubject, toPublicUser } from '../../data/domain/users.ts';
import { codeOf } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import type { Span } from '../../tracing/tracing.ts';
import { findRevocation, invalidToken, type Scope, scopes, type Viewer } from '../viewer.ts';
import { Introspection, type TokenSender, ttlMs } from './introspection.ts';
import { Issuer, toTokenError } from './issuer.ts';

/** Only asymmetric algorithms are allowed (RFC 8725, 3.1 and 3.2). */
const algorithms = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');
const refreshIntervalMs = 600_000;
const maxVerified = 10_000;
/** The number of open tokens that are checked at the same time, so that new clients need not wait. */
const maxChecks = 10;

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/**
 * Verifies the access tokens of one issuer: JWTs with its published keys (RFC 9068), opaque tokens by introspection
 * (RFC 7662).
 */
export class OAuth {
  readonly #options: OAuthSettings;
  readonly #issuer: Issuer;
  /** The claims of tokens that the present keys have verified. */
  readonly #verified = new LRUCache<string, JWTPayload>({ max: maxVerified });
  /** The issuer's key set in JSON. */
  #published: string | undefined;
  /** Undefined if only JWTs are accepted. */
  readonly #introspection: Introspection | undefined;
  readonly #onRefused: (token: string) => void;
  /** The tokens of open connections, each with the time of its next check, by performance.now(). */
  readonly #dueAt = new Map<string, number>();
  #isChecking = false;
  #keys: Promise<KeySet> | undefined;
  #refresh: NodeJS.Timeout | undefined;

  /**
   * `refusals`: the maximum number of opaque tokens that the issuer refuses for an address; 0: no limit. `onRefused` is
   * called with a token of open connections that the issuer no longer accepts.
   */
  constructor(
    options: OAuthSettings,
    refusals: WindowOptions,
    log: Pick<Log, 'debug' | 'warn'>,
    onRefused: (token: string) => void,
  ) {
    this.#options = options;
    this.#onRefused = onRefused;
    this.#issuer = new Issuer(log);
    const { introspectionUrl: url } = options;
    this.#introspection = url ? new Introspection(options, url, refusals, this.#issuer) : undefined;
  }

  /**
   * Finds the viewer of a token; the first token of a subject creates its User.
   * @throws ClientError UNAUTHENTICATED for a bad token, BAD_GATEWAY if the issuer fails, RATE_LIMITED or
   * SERVICE_UNAVAILABLE if the address sends too many tokens that only the issuer can check.
   */
  async authenticate(database: Database, token: string, sender: TokenSender): Promise<Viewer> {
    try {
      const claims = await (isJwt(token) ? this.#verify(token, sender.span) : this.#introspect(token, sender));
      return await this.#findOrCreateViewer(database, claims, { span: sender.span, token });
    } catch (error) {
      this.#report(error, token);
      throw error;
    }
  }

  /**
   * Checks the tokens of open connections again, because no issuer reports that it has revoked a token. A token is checked
   * once in an interval, whatever the number of its connections.
   */
  async checkOpen(tokens: ReadonlySet<string>): Promise<void> {
    for (const token of this.#dueAt.keys()) if (!tokens.has(token)) this.#dueAt.delete(token);
    const now = performance.now();
    for (const token of tokens) {
      if (!this.#dueAt.has(token)) this.#dueAt.set(token, now + (this.#introspection?.remainingMs(token) ?? 0));
    }
    if (this.#isChecking) return;
    this.#isChecking = true;
    const due = [...this.#dueAt.keys()].filter((token) => (this.#dueAt.get(token) ?? 0) <= now);
    await forEachConcurrently(due, maxChecks, (token) => this.#checkAgain(token));
    this.#isChecking = false;
  }

  close(): void {
    clearInterval(this.#refresh);
  }

  async #checkAgain(token: string): Promise<void> {
    // Its connections may have ended meanwhile.
    if (!this.#dueAt.has(token)) return;
    this.#dueAt.set(token, performance.now() + (isJwt(token) ? refreshIntervalMs : ttlMs));
    try {
      await yieldWhenDue();
      await (isJwt(token) ? this.#verify(token) : this.#introspection?.ask(token));
    } catch (error) {
      this.#report(error, token);
    }
  }

  /** Another failure is that of the issuer, and says nothing about the token. */
  #report(error: unknown, token: string): void {
    this.#issuer.report(error);
    if (codeOf(error) === 'UNAUTHENTICATED' && this.#dueAt.has(token)) this.#onRefused(token);
  }

  /** @throws ClientError UNAUTHENTICATED if a claim is missing, or the token has expired or was revoked. */
  async #findOrCreateViewer(
    database: Database,
    claims: JWTPayload,
    { span, token }: { span: Span | undefined; token: string },
  ): Promise<Viewer> {
    const { sub, exp, iat = 0, scope, scp, name } = claims;
    // The claims of an introspection have no checked types.
    if (typeof sub !== 'string' || !sub) throw invalidToken('no sub');
    if (exp === undefined || !Number.isFinite(exp)) throw invalidToken(exp === undefined ? 'no exp' : 'wrong exp');
    if (!Number.isFinite(iat)) throw invalidToken('wrong iat');
    const [expiresAt, startedAt] = [exp * 1_000, iat * 1_000];
    if (expiresAt <= Date.now()) throw invalidToken('expired');
    const subject = { issuer: this.#options.issuer, subject: sub };
    const create = (trx: Db) => findOrCreateAccountBySubject(trx, subject, { name: displayName(name, sub), startedAt });
    const account =
      (await findAccountBySubject(readsWithin(database, span), subject)) ??
      (await asRepeatable(database.transaction(create, { span })));
    const credential = { kind: 'oauth', startedAt, token } as const;
    if (!account || findRevocation(credential, account) !== undefined) throw invalidToken('account deleted');
    const granted = scopesOf([scope, scp].flat());
    return { user: toPublicUser(account), chargedId: account.id, credential, scopes: granted, expiresAt };
  }

  async #verify(token: string, span?: Span): Promise<JWTPayload> {
    const key = hash('sha256', token, 'base64url');
    const cached = this.#verified.get(key);
    if (cached) return cached;
    const published = this.#published;
    try {
      // The claimed issuer is checked before the keys are loaded, so that a token of another issuer causes no request.
      if (decodeJwt(token).iss !== this.#options.issuer) throw invalidToken('wrong iss');
      const { payload } = await jwtVerify(token, await this.#keySet(span), {
        issuer: this.#options.issuer,
        audience: this.#options.audience,
        algorithms,
        typ: 'at+jwt',
        requiredClaims: ['sub', 'exp', 'iat'],
      });
      if (published === this.#published) this.#verified.set(key, payload);
      return payload;
    } catch (error) {
      throw toTokenError(error);
    }
  }

  async #introspect(token: string, sender: TokenSender): Promise<JWTPayload> {
    if (!this.#introspection) throw invalidToken('not a JWT, and OAUTH_INTROSPECTION_URL is not set');
    return this.#introspection.introspect(token, sender);
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
    const configuration = `${this.#options.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const metadata = await this.#issuer.send(configuration, {}, span);
    if (metadata['issuer'] !== this.#options.issuer || typeof metadata['jwks_uri'] !== 'string') {
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
        const keySet = await this.#issuer.send(url, { headers }, parent);
        this.#forgetTokensOfOtherKeys(JSON.stringify(keySet));
        return Response.json(keySet);
      },
    });
    this.#refresh = setInterval(
      () => keys.reload().catch((error) => this.#issuer.report(toTokenError(error))),
      refreshIntervalMs,
    ).unref();
    return keys;
  }

  /** A token whose key the issuer has withdrawn is no longer valid. */
  #forgetTokensOfOtherKeys(published: string): void {
    if (published === this.#published) return;
    this.#published = published;
    this.#verified.clear();
    for (const token of this.#dueAt.keys()) if (isJwt(token)) this.#dueAt.set(token, 0);
  }
}

function isJwt(token: string): boolean {
  return token.split('.').length === 3;
}

/** A token that names scopes of Postroom has these scopes. A token that names none of them has READ and WRITE. */
function scopesOf(claimed: unknown[]): Set<Scope> {
  const named = claimed.flatMap((words) => (typeof words === 'string' ? words.toUpperCase().split(' ') : []));
  const ours = scopes.filter((known) => named.includes(known));
  return new Set(ours.length > 0 ? ours : ['READ', 'WRITE']);
}

/** A name that fits the rules for user names. */
function displayName(name: unknown, subject: string): string {
  return [name, subject].map(toVisible).find((text) => visibleCharacter.test(text)) ?? 'someone';
}

function toVisible(text: unknown): string {
  const clean = Array.from(typeof text === 'string' ? toName(text.toWellFormed()) : '', (character) =>
    controlCharacter.test(character) || invisibleCharacter.test(character) ? ' ' : character,
  );
  return clean.slice(0, maxNameLength).join('').trim();
}
