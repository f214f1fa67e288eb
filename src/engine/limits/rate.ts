import { ClientError } from '../../errors.ts';
import { FixedWindow } from '../../fixed-window.ts';
import type { Viewer } from '../../identity/viewer.ts';

export interface RateOptions {
  /** Operations per window; 0 disables the limit. */
  limit: number;
  windowSeconds: number;
}

/** The caller's remaining rate, for the header fields of draft-ietf-httpapi-ratelimit-headers. */
export interface Rate extends RateOptions {
  remaining: number;
  /** The time until the window ends. */
  resetMs: number;
}

/** The caller is over the rate. */
export class RateLimited extends ClientError {
  readonly rate: Rate;

  constructor(rate: Rate) {
    super('RATE_LIMITED', undefined, { retryAfterMs: rate.resetMs });
    this.rate = rate;
  }
}

/** The caller whose rate an operation is charged to. */
export interface Caller {
  viewer: Viewer | null;
  /** The IP address, which is charged for callers without credentials. */
  address: string;
}

/**
 * Charges `points` operations to a caller, by default one. Returns undefined if there is no limit.
 * @throws RateLimited; for 0 points only if the caller is already over the limit.
 */
export type ChargeRate = (caller: Caller, points?: number) => Rate | undefined;

export function createRateLimit({ limit, windowSeconds }: RateOptions): ChargeRate {
  if (limit === 0) return () => undefined;
  // Two counters keep users and addresses apart without building a key string for each request.
  const users = new FixedWindow({ limit, windowSeconds });
  const addresses = new FixedWindow({ limit, windowSeconds });
  return ({ viewer, address }, points = 1) => {
    const charged = viewer ? users.charge(viewer.user.id, points) : addresses.charge(address, points);
    const { isOver, remaining, resetMs } = charged;
    const rate = { limit, windowSeconds, remaining, resetMs };
    if (isOver) throw new RateLimited(rate);
    return rate;
  };
}
