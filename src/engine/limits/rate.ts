import { ClientError } from '../../errors.ts';
import { FixedWindow } from '../../fixed-window.ts';
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
 * Charges `points` operations to a caller, by default one; undefined where there is no limit.
 * @throws RateLimited; for 0 points where the caller is beyond the limit already.
 */
export type ChargeRate = (caller: Caller, points?: number) => Rate | undefined;

export function createRateLimit({ limit, windowSeconds }: RateOptions): ChargeRate {
  if (limit === 0) return () => undefined;
  // Apart, so that neither is taken for the other, and no key is put together for each request.
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
