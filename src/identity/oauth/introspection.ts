import { hash } from 'node:crypto';
import type { JWTPayload } from 'jose';
import { LRUCache } from 'lru-cache';
import { FixedWindow, type WindowOptions } from '../../common/fixed-window.ts';
import { LimitedQueue } from '../../common/limited-queue.ts';
import type { OAuthSettings } from '../../config/config.ts';
import { ClientError, codeOf } from '../../errors.ts';
import type { Span } from '../../tracing/tracing.ts';
import { invalidToken } from '../viewer.ts';
import type { Issuer } from './issuer.ts';

/** How long an answer of the issuer is used. */
export const ttlMs = 30_000;
const keepsStale = { allowStale: true, noDeleteOnStaleGet: true };
const maxActive = 10_000;
const maxRefused = 1_000;
/** The introspections of an address, or of a token, that run at the same time, and that wait. */
const limits = { maxRunning: 100, maxRunningPerCaller: 10, maxWaitingPerCaller: 100 };

/** The client that sent a token. */
export interface TokenSender {
  address: string;
  /** That of the operation. */
  span?: Span | undefined;
}

/** Asks the issuer about opaque tokens, and caches its answers (RFC 7662). */
export class Introspection {
  readonly #settings: OAuthSettings;
  readonly #url: string;
  readonly #issuer: Issuer;
  readonly #limit = new LimitedQueue({
    ...limits,
    refusal: () => new ClientError('SERVICE_UNAVAILABLE', tooManyTokens, { retryAfterMs: 1_000 }),
  });
  readonly #refusals: FixedWindow | undefined;
  /** The claims of active tokens. Stale ones are kept, because these tokens are not guesses. */
  readonly #active = new LRUCache<string, JWTPayload>({ max: maxActive, ttl: ttlMs, ...keepsStale });
  /** The reasons of refused tokens, in a cache of their own, so that guesses do not evict valid tokens. */
  readonly #refused = new LRUCache<string, string>({ max: maxRefused, ttl: ttlMs });

  /** `refusals`: the maximum number of tokens that the issuer refuses for an address; 0: no limit. */
  constructor(settings: OAuthSettings, url: string, refusals: WindowOptions, issuer: Issuer) {
    this.#settings = settings;
    this.#url = url;
    this.#issuer = issuer;
    this.#refusals = refusals.limit === 0 ? undefined : new FixedWindow(refusals);
  }

  /**
   * The claims of a token.
   * @throws ClientError UNAUTHENTICATED if the issuer refuses it, BAD_GATEWAY if the issuer fails, RATE_LIMITED if the
   * issuer has refused too many tokens of the address, SERVICE_UNAVAILABLE if too many of its tokens wait.
   */
  async introspect(token: string, { address, span }: TokenSender): Promise<JWTPayload> {
    const key = keyOf(token);
    const claims = this.#active.get(key);
    if (claims && this.#active.getRemainingTTL(key) > 0) return claims;
    const refused = this.#refused.get(key);
    if (refused !== undefined) throw invalidToken(refused);
    // A token that was active is not a guess: it waits for no other token of its address.
    if (claims) return this.#limit.run(() => this.ask(token, span), { caller: key });
    this.#assertFewRefusals(address);
    const ask = async () => {
      // Other tokens may have been refused meanwhile.
      this.#assertFewRefusals(address);
      try {
        return await this.ask(token, span);
      } catch (error) {
        if (codeOf(error) === 'UNAUTHENTICATED') this.#refusals?.charge(address);
        throw error;
      }
    };
    return this.#limit.run(ask, { caller: address });
  }

  /** How long the answer about an active token is still used. */
  remainingMs(token: string): number {
    return this.#active.getRemainingTTL(keyOf(token));
  }

  /** @throws ClientError RATE_LIMITED. */
  #assertFewRefusals(address: string): void {
    const window = this.#refusals?.charge(address, 0);
    if (window?.remaining === 0) throw new ClientError('RATE_LIMITED', undefined, { retryAfterMs: window.resetMs });
  }

  /** Asks about a token that is not a guess. @throws ClientError UNAUTHENTICATED, BAD_GATEWAY. */
  async ask(token: string, span?: Span): Promise<JWTPayload> {
    const claims: JWTPayload = await this.#issuer.send(this.#url, createRequest(token, this.#settings), span);
    const fault = findFault(claims, this.#settings);
    if (fault === undefined) {
      this.#active.set(keyOf(token), claims);
      return claims;
    }
    this.#active.delete(keyOf(token));
    this.#refused.set(keyOf(token), fault);
    throw invalidToken(fault);
  }
}

const tooManyTokens = 'Too many access tokens of this address wait for their issuer.';

function createRequest(token: string, { clientId = '', clientSecret = '' }: OAuthSettings): RequestInit {
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString('base64');
  return {
    method: 'POST',
    headers: { authorization: `Basic ${basic}`, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token, token_type_hint: 'access_token' }).toString(),
  };
}

/** The reason why a token is not valid for this server, or undefined. */
function findFault(claims: JWTPayload, { issuer, audience }: OAuthSettings): string | undefined {
  const { active, iss = issuer, aud = [] } = claims;
  if (active !== true) return 'not active';
  if (iss !== issuer) return 'wrong iss';
  return [aud].flat().includes(audience) ? undefined : 'wrong aud';
}

function keyOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
