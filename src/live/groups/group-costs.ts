import type { Config } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';
import type { StreamRequest } from '../stream.ts';

interface GroupEntry {
  readonly key: string;
  readonly cost: number;
  subscriptions: number;
}

/** An address or a user, and the number of its subscriptions in each group. */
interface Payer {
  readonly kind: 'address' | 'user';
  readonly id: string;
  cost: number;
  readonly groups: Map<GroupEntry, number>;
}

/** The share of one subscription in its group. */
export interface GroupReservation {
  readonly entry: GroupEntry;
  readonly payers: readonly Payer[];
}

const maxClosed = 100_000;
/** Limits the cost per event of the groups of one address or user, as a multiple of the largest operation's cost. */
const maxOperationsPerEvent = 5;

/** The open groups, and their total cost per address and per user. A group counts once for all its subscriptions. */
export class GroupCosts {
  /** The maximum total cost of the groups of one address, and of one user. An event executes all groups of its room. */
  readonly #maxCost: number;
  /** How long a group without subscriptions is still known, and is not charged when it is opened again. */
  readonly #freeReopenMs: number;
  readonly #groups = new Map<string, GroupEntry>();
  readonly #payers = { address: new Map<string, Payer>(), user: new Map<string, Payer>() };
  /** The time at which the last subscription of a group ended, by performance.now(); oldest first. */
  readonly #closed = new Map<string, number>();
  /** Groups whose charge is pending. */
  readonly #charging = new Map<string, Promise<unknown>>();

  constructor({ limits, rate }: Pick<Config, 'limits' | 'rate'>) {
    this.#maxCost = maxOperationsPerEvent * limits.cost;
    this.#freeReopenMs = rate.windowSeconds * 1_000;
  }

  /**
   * Calls `charge` if the group is new, and returns whether it was new. A group is known while it is open, and for
   * `freeReopenMs` after that, so that a client that lost its connection is not charged again. Concurrent subscriptions to
   * one new group are charged once. @throws any error of `charge`.
   */
  async chargeIfNew(group: string, charge: () => unknown): Promise<boolean> {
    while (this.#charging.has(group)) await this.#charging.get(group);
    if (this.#isKnown(group)) return false;
    const charging = (async () => charge())();
    // Meanwhile other subscriptions to the group wait; if this charge is refused, the next of them is charged.
    const settled = charging.catch(() => {}).then(() => void this.#charging.delete(group));
    this.#charging.set(group, settled);
    await charging;
    this.#recordClosed(group);
    return true;
  }

  /** A new group could not be opened: the next subscription to it is charged again. */
  dropUnopened(group: string): void {
    if (!this.#groups.has(group)) this.#closed.delete(group);
  }

  #isKnown(group: string): boolean {
    if (this.#groups.has(group)) return true;
    const closedAt = this.#closed.get(group);
    return closedAt !== undefined && performance.now() - closedAt < this.#freeReopenMs;
  }

  /** `group` is equal for subscriptions that are executed together. @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  reserve(group: string, { cost, address, chargedId }: StreamRequest): GroupReservation {
    const entry = this.#groups.get(group) ?? { key: group, cost: Math.max(1, cost), subscriptions: 0 };
    const payers = [this.#payer('address', address), ...(chargedId === null ? [] : [this.#payer('user', chargedId)])];
    for (const payer of payers) this.#assertFits(payer, entry);
    this.#groups.set(group, entry);
    entry.subscriptions += 1;
    for (const payer of payers) {
      const count = payer.groups.get(entry) ?? 0;
      if (count === 0) payer.cost += entry.cost;
      payer.groups.set(entry, count + 1);
      this.#payers[payer.kind].set(payer.id, payer);
    }
    return { entry, payers };
  }

  #payer(kind: Payer['kind'], id: string): Payer {
    return this.#payers[kind].get(id) ?? { kind, id, cost: 0, groups: new Map() };
  }

  #assertFits({ kind, cost, groups }: Payer, entry: GroupEntry): void {
    const maxCost = this.#maxCost;
    if (groups.size === 0 || groups.has(entry) || cost + entry.cost <= maxCost) return;
    const message = `The different subscriptions of one ${kind} may cost ${maxCost} for each event: they cost ${cost}, and this one ${entry.cost} more.`;
    throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED', message);
  }

  release({ entry, payers }: GroupReservation): void {
    for (const payer of payers) {
      const count = payer.groups.get(entry) ?? 0;
      if (count > 1) payer.groups.set(entry, count - 1);
      else if (payer.groups.delete(entry)) payer.cost -= entry.cost;
      if (payer.groups.size === 0) this.#payers[payer.kind].delete(payer.id);
    }
    entry.subscriptions -= 1;
    if (entry.subscriptions > 0) return;
    this.#groups.delete(entry.key);
    this.#recordClosed(entry.key);
  }

  #recordClosed(group: string): void {
    const now = performance.now();
    this.#closed.delete(group);
    this.#closed.set(group, now);
    for (const [oldest, closedAt] of this.#closed) {
      if (now - closedAt < this.#freeReopenMs && this.#closed.size <= maxClosed) return;
      this.#closed.delete(oldest);
    }
  }
}
