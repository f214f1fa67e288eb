import type { Caller, Rate, RateLimit } from './rate.ts';

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

  /** Charges an operation that is refused, unless it was charged before. @throws RateLimited, instead of the refusal. */
  async chargeRefused(): Promise<void> {
    if (!this.#isCharged) await this.charge();
  }
}
