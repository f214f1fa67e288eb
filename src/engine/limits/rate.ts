import { ClientError } from '../../errors.ts';
import { type Charged, FixedWindow } from '../../fixed-window.ts';
import type { Viewer } from '../../identity/viewer.ts';

export interface RateOptions {
  /** Operations per window; 0 disables the limit. */
  limit: number;
  windowSeconds: number;
}

interface RateLimitOptions extends RateOptions {
  /** Called for each refusal. */
  onRefused?: (() => void) | undefined;
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

/** A counter of charges per key that all nodes share. */
export interface SharedWindows {
  /** Whether the counter answers. If it does not, the charges of this node alone decide. */
  readonly isUp: boolean;
  /** Counts a charge. Never rejects; undefined if there is no answer in time. */
  charge(key: string): Promise<SharedCount | undefined>;
}

/** The window of one key after a charge. */
export interface SharedCount {
  charges: number;
  /** The time until the window ends. */
  resetMs: number;
}

/** Limits the operations of a user or, without credentials, of an address. */
export interface RateLimit {
  /**
   * Charges an operation to a caller. Undefined if there is no limit; a promise only if nodes share the limit.
   * @throws RateLimited.
   */
  charge(caller: Caller): Rate | undefined | Promise<Rate>;
  /** @throws RateLimited if this node knows that the caller is already over the limit. */
  assertNotOver(caller: Caller): void;
}

/** With `shared`, nodes share the limit. */
export function createRateLimit(options: RateLimitOptions, shared?: SharedWindows): RateLimit {
  if (options.limit === 0) return { charge: () => undefined, assertNotOver: () => {} };
  const local = new LocalRate(options);
  if (!shared) return local;
  return {
    charge: (caller) => chargeShared(caller, local, shared),
    assertNotOver: (caller) => local.assertNotOver(caller),
  };
}

/** The rate that one node counts. */
class LocalRate implements RateLimit {
  readonly #limit: number;
  readonly #windowSeconds: number;
  readonly #onRefused: (() => void) | undefined;
  /** Two counters keep users and addresses apart without building a key string for each request. */
  readonly #users: FixedWindow;
  readonly #addresses: FixedWindow;

  constructor(options: RateLimitOptions) {
    this.#onRefused = options.onRefused;
    this.#limit = options.limit;
    this.#windowSeconds = options.windowSeconds;
    this.#users = new FixedWindow(options);
    this.#addresses = new FixedWindow(options);
  }

  charge({ viewer, address }: Caller): Rate {
    return this.#toRate(viewer ? this.#users.charge(viewer.chargedId) : this.#addresses.charge(address));
  }

  assertNotOver({ viewer, address }: Caller): void {
    this.#toRate(viewer ? this.#users.charge(viewer.chargedId, 0) : this.#addresses.charge(address, 0));
  }

  /** Takes over the shared count, so that the limit continues with it if the shared counter fails. */
  adopt({ viewer, address }: Caller, { charges, resetMs }: SharedCount): Rate {
    if (viewer) this.#users.adopt(viewer.chargedId, charges, resetMs);
    else this.#addresses.adopt(address, charges, resetMs);
    return this.#toRate({ isOver: charges > this.#limit, remaining: Math.max(0, this.#limit - charges), resetMs });
  }

  /** @throws RateLimited. */
  #toRate({ isOver, remaining, resetMs }: Charged): Rate {
    const rate = { limit: this.#limit, windowSeconds: this.#windowSeconds, remaining, resetMs };
    if (!isOver) return rate;
    this.#onRefused?.();
    throw new RateLimited(rate);
  }
}

/** A caller that this node knows to be over the limit is refused without asking the shared counter. */
function chargeShared(caller: Caller, local: LocalRate, shared: SharedWindows): Rate | Promise<Rate> {
  const rate = local.charge(caller);
  if (!shared.isUp) return rate;
  const { viewer, address } = caller;
  const key = viewer ? `user:${viewer.chargedId}` : `address:${address}`;
  return shared.charge(key).then((count) => (count ? local.adopt(caller, count) : rate));
}
