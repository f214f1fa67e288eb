import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ClientError } from '../../errors.ts';
import type { Viewer } from '../../identity/viewer.ts';

export interface RateOptions {
  /** Operations a window; 0 for no limit. */
  limit: number;
  windowSeconds: number;
}

/** What is left of a caller's rate, for the header fields of draft-ietf-httpapi-ratelimit-headers. */
export interface Rate extends RateOptions {
  remaining: number;
  /** Until the window ends. */
  resetMs: number;
}

/** Over the rate. */
export class RateLimited extends ClientError {
  readonly rate: Rate;

  constructor(rate: Rate) {
    super('RATE_LIMITED', undefined, { retryAfterMs: rate.resetMs });
    this.rate = rate;
  }
}

/** Whose rate it goes by. */
export interface Caller {
  viewer: Viewer | null;
  /** Where it came from, for those without credentials. */
  address: string;
}

/**
 * Charges `points` operations to a caller, by default one; undefined where there is no limit. Rejects with RateLimited; for
 * 0 points where the caller has gone beyond the limit.
 */
export type ChargeRate = (caller: Caller, points?: number) => Promise<Rate> | undefined;

export function createRateLimit({ limit, windowSeconds }: RateOptions): ChargeRate {
  if (limit === 0) return () => undefined;
  // Apart, so that neither is taken for the other, and no key is put together for each request: that took a tenth of a small one.
  const options = { points: limit, duration: windowSeconds, keyPrefix: '' };
  const users = new RateLimiterMemory(options);
  const addresses = new RateLimiterMemory(options);
  const toRate = ({ remainingPoints, msBeforeNext }: RateLimiterRes): Rate => ({
    limit,
    windowSeconds,
    remaining: remainingPoints,
    resetMs: Math.max(1, msBeforeNext),
  });
  const refuse = (error: unknown) => {
    throw error instanceof RateLimiterRes ? new RateLimited(toRate(error)) : error;
  };
  return ({ viewer, address }, points = 1) =>
    (viewer ? users.consume(viewer.user.id, points) : addresses.consume(address, points)).then(toRate, refuse);
}
