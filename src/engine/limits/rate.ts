import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { ClientError } from '../../errors.ts';

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

/** Charges one operation to a caller; undefined where there is no limit. Rejects with RateLimited. */
export type ChargeRate = (caller: string) => Promise<Rate> | undefined;

export function createRateLimit({ limit, windowSeconds }: RateOptions): ChargeRate {
  if (limit === 0) return () => undefined;
  const limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds, keyPrefix: '' });
  const toRate = ({ remainingPoints, msBeforeNext }: RateLimiterRes): Rate => ({
    limit,
    windowSeconds,
    remaining: remainingPoints,
    resetMs: Math.max(1, msBeforeNext),
  });
  const refuse = (error: unknown) => {
    throw error instanceof RateLimiterRes ? new RateLimited(toRate(error)) : error;
  };
  return (caller) => limiter.consume(caller).then(toRate, refuse);
}
