import type { GroupCostRequest, GroupCosts, GroupReservation } from './group-costs.ts';

/** The share of one stream in the cost of its group. */
export class CostShare {
  readonly #costs: GroupCosts;
  readonly #request: () => GroupCostRequest;
  #reservation: GroupReservation | undefined;

  /** `request` is called for each reservation: the group changes when its selection is found to be personal. */
  constructor(costs: GroupCosts, request: () => GroupCostRequest) {
    this.#costs = costs;
    this.#request = request;
  }

  /** Replaces the reservation, if there is one. @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  reserve(): void {
    this.release();
    this.#reservation = this.#costs.reserve(this.#request());
  }

  release(): void {
    if (this.#reservation) this.#costs.release(this.#reservation);
    this.#reservation = undefined;
  }
}
