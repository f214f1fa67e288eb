import { ClientError } from '../errors.ts';

export interface GroupCostLimits {
  /** The maximum total cost of the groups of one address, and of one user. An event executes all groups of its room. */
  maxCost: number;
  /** How long a group without subscriptions is still known, and is not charged when it is opened again. */
  recentMs: number;
}

/** The owner of a subscription, its group, and the cost of the group. */
export interface GroupCostRequest {
  /** Equal for subscriptions that are executed together. */
  group: string;
  cost: number;
  address: string;
  userId: string | null;
}

interface GroupEntry {
  readonly key: string;
  readonly cost: number;
  holders: number;
}

/** The groups of one address or user, with the number of its subscriptions in each. */
interface Owner {
  cost: number;
  readonly groups: Map<GroupEntry, number>;
}

/** The share of one subscription in its group. */
export interface GroupReservation {
  readonly entry: GroupEntry;
  readonly address: string;
  readonly userId: string | null;
}

const maxRecent = 100_000;

/** The open groups, and their total cost per address and per user. A group counts once for all its subscriptions. */
export class GroupCosts {
  readonly #limits: GroupCostLimits;
  readonly #groups = new Map<string, GroupEntry>();
  readonly #addresses = new Map<string, Owner>();
  readonly #users = new Map<string, Owner>();
  /** The time at which the last subscription of a group ended, by performance.now(); oldest first. */
  readonly #closed = new Map<string, number>();
  /** Groups whose charge is pending. */
  readonly #charging = new Map<string, Promise<unknown>>();

  constructor(limits: GroupCostLimits) {
    this.#limits = limits;
  }

  /**
   * Calls `charge` if the group is new, and returns whether it was new. A group is known while it is open, and for
   * `recentMs` after that, so that a client that lost its connection is not charged again. Concurrent subscriptions to
   * one new group are charged once. @throws any error of `charge`.
   */
  async chargeIfNew(group: string, charge: () => unknown): Promise<boolean> {
    while (this.#charging.has(group)) await this.#charging.get(group);
    if (this.#isRecent(group)) return false;
    const charged = charge();
    if (charged instanceof Promise) await this.#waitForCharge(group, charged);
    this.#rememberClosed(group);
    return true;
  }

  /** Meanwhile other subscriptions to the group wait; if this charge is refused, the next of them is charged. */
  async #waitForCharge(group: string, charged: Promise<unknown>): Promise<void> {
    this.#charging.set(
      group,
      charged.catch(() => {}),
    );
    try {
      await charged;
    } finally {
      this.#charging.delete(group);
    }
  }

  /** A new group could not be opened: the next subscription to it is charged again. */
  forgetNew(group: string): void {
    if (!this.#groups.has(group)) this.#closed.delete(group);
  }

  #isRecent(group: string): boolean {
    if (this.#groups.has(group)) return true;
    const closedAt = this.#closed.get(group);
    return closedAt !== undefined && performance.now() - closedAt < this.#limits.recentMs;
  }

  /** @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  hold({ group, cost, address, userId }: GroupCostRequest): GroupReservation {
    const entry = this.#groups.get(group) ?? { key: group, cost: Math.max(1, cost), holders: 0 };
    this.#assertFits('address', this.#addresses.get(address), entry);
    if (userId !== null) this.#assertFits('user', this.#users.get(userId), entry);
    this.#groups.set(group, entry);
    entry.holders += 1;
    add(this.#addresses, address, entry);
    if (userId !== null) add(this.#users, userId, entry);
    return { entry, address, userId };
  }

  #assertFits(whose: string, owner: Owner | undefined, entry: GroupEntry): void {
    if (!owner || owner.groups.has(entry)) return;
    const { maxCost } = this.#limits;
    if (owner.cost + entry.cost <= maxCost) return;
    const message = `The different subscriptions of one ${whose} may cost ${maxCost} for each event: they cost ${owner.cost}, and this one ${entry.cost} more.`;
    throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED', message);
  }

  release({ entry, address, userId }: GroupReservation): void {
    subtract(this.#addresses, address, entry);
    if (userId !== null) subtract(this.#users, userId, entry);
    entry.holders -= 1;
    if (entry.holders > 0) return;
    this.#groups.delete(entry.key);
    this.#rememberClosed(entry.key);
  }

  #rememberClosed(group: string): void {
    const now = performance.now();
    this.#closed.delete(group);
    this.#closed.set(group, now);
    for (const [oldest, closedAt] of this.#closed) {
      if (now - closedAt < this.#limits.recentMs && this.#closed.size <= maxRecent) return;
      this.#closed.delete(oldest);
    }
  }
}

function add(owners: Map<string, Owner>, id: string, entry: GroupEntry): void {
  const owner = owners.get(id) ?? { cost: 0, groups: new Map() };
  owners.set(id, owner);
  const count = owner.groups.get(entry) ?? 0;
  if (count === 0) owner.cost += entry.cost;
  owner.groups.set(entry, count + 1);
}

function subtract(owners: Map<string, Owner>, id: string, entry: GroupEntry): void {
  const owner = owners.get(id);
  const count = owner?.groups.get(entry);
  if (!owner || count === undefined) return;
  if (count > 1) return void owner.groups.set(entry, count - 1);
  owner.groups.delete(entry);
  owner.cost -= entry.cost;
  if (owner.groups.size === 0) owners.delete(id);
}
