import { ClientError } from '../errors.ts';

export interface GroupCostLimits {
  /** What the distinct groups of one address, and of one user, may cost together: each event executes all of its room. */
  maxCost: number;
  /** A group that nobody has open any more counts as known for so long. */
  knownMs: number;
}

/** Who has a subscription, and what its group costs. */
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

/** The groups of one address or user, with the number of subscriptions that each has there. */
interface Owner {
  cost: number;
  readonly groups: Map<GroupEntry, number>;
}

/** The part of one subscription in its group. */
export interface GroupHold {
  readonly entry: GroupEntry;
  readonly address: string;
  readonly userId: string | null;
}

const maxKnown = 100_000;

/** Which groups are open, and what those of each address and user cost. A group counts once, however many subscribe to it. */
export class GroupCosts {
  readonly #limits: GroupCostLimits;
  readonly #groups = new Map<string, GroupEntry>();
  readonly #addresses = new Map<string, Owner>();
  readonly #users = new Map<string, Owner>();
  /** When the latest subscription of a group ended, by performance.now(), in the order of these times. */
  readonly #closed = new Map<string, number>();

  constructor(limits: GroupCostLimits) {
    this.#limits = limits;
  }

  /**
   * Calls `charge` where the group is new, and tells whether it was. A group is known while it is open and for a moment after
   * that: a client that lost its connection finds its groups again. @throws what `charge` throws.
   */
  chargeIfNew(group: string, charge: () => void): boolean {
    if (this.#isKnown(group)) return false;
    charge();
    // Subscriptions to one group that come together are charged once.
    this.#rememberClosed(group);
    return true;
  }

  /** A new group that was not opened after all: the next subscription to it is charged again. */
  forgetNew(group: string): void {
    if (!this.#groups.has(group)) this.#closed.delete(group);
  }

  #isKnown(group: string): boolean {
    if (this.#groups.has(group)) return true;
    const closedAt = this.#closed.get(group);
    return closedAt !== undefined && performance.now() - closedAt < this.#limits.knownMs;
  }

  /** @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  hold({ group, cost, address, userId }: GroupCostRequest): GroupHold {
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

  release({ entry, address, userId }: GroupHold): void {
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
      if (now - closedAt < this.#limits.knownMs && this.#closed.size <= maxKnown) return;
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
