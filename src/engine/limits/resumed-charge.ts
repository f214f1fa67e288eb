import { type Caller, type Rate, type RateLimit, RateLimited } from './rate.ts';

/** Charges an operation that claims to resume to the rate only once: when it opens a group, or when it is refused. */
export class ResumedCharge {
  readonly #rateLimit: RateLimit;
  readonly #caller: Caller;
  #isCharged = false;

  constructor(rateLimit: RateLimit, caller: Caller) {
    this.#rateLimit = rateLimit;
    this.#caller = caller;
  }

  /** A promise only if nodes share the limit. @throws RateLimited. */
  readonly charge = (): Rate | undefined | Promise<Rate> => {
    this.#isCharged = true;
    return this.#rateLimit.charge(this.#caller);
  };

  /**
   * Charges an operation that is refused, unless it was charged before. Returns the error RateLimited, which replaces
   * the original error, if the caller is over the rate.
   */
  async chargeRefused(): Promise<RateLimited | undefined> {
    if (this.#isCharged) return undefined;
    try {
      await this.charge();
      return undefined;
    } catch (error) {
      if (error instanceof RateLimited) return error;
      throw error;
    }
  }
}
