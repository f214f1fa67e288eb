import { type Caller, type ChargeRate, RateLimited } from './rate.ts';

/** Charges an operation that claims to resume to the rate only once: when it opens a group, or when it is refused. */
export class ResumedCharge {
  readonly #chargeRate: ChargeRate;
  readonly #caller: Caller;
  #isCharged = false;

  constructor(chargeRate: ChargeRate, caller: Caller) {
    this.#chargeRate = chargeRate;
    this.#caller = caller;
  }

  /** @throws RateLimited. */
  readonly charge = (): void => {
    this.#isCharged = true;
    this.#chargeRate(this.#caller);
  };

  /**
   * Charges an operation that is refused, unless it was charged before. Returns the error RateLimited, which replaces
   * the original error, if the caller is over the rate.
   */
  chargeRefused(): RateLimited | undefined {
    if (this.#isCharged) return undefined;
    try {
      this.charge();
      return undefined;
    } catch (error) {
      if (error instanceof RateLimited) return error;
      throw error;
    }
  }
}
