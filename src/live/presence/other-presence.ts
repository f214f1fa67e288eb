import type { PresenceReport } from '../bus/bus.ts';
import type { NodePresence } from './presence-state.ts';

/** A node that reports a longer lease is not believed. */
const maxLeaseMs = 30_000;
const maxTypingMs = 5_000;

/** The presence in a room on another node. */
class ReportedNode implements NodePresence {
  /** The number of its latest report. */
  number = 0;
  users = new Set<string>();
  /** Whether a report of it is missing, so that it must report everything. */
  isStale = false;
  /** The users of a whole report of which parts are missing. */
  draft: Set<string> | undefined;
  first: readonly string[] = [];
  anonymous = 0;
  typing: readonly string[] = [];
  lease: NodeJS.Timeout | undefined;
  typingEnd: NodeJS.Timeout | undefined;
}

/** The viewers of a room that are present through other nodes. Calls `onChange` after each change. */
export class OtherPresence {
  readonly #nodes = new Map<string, ReportedNode>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get nodes(): Iterable<NodePresence> {
    return this.#nodes.values();
  }

  /** Whether reports are missing, so that the nodes must report everything. */
  get isStale(): boolean {
    return this.#nodes.values().some(({ isStale }) => isStale);
  }

  receive(report: PresenceReport): void {
    const known = this.#nodes.get(report.node);
    // It is repeated or late.
    if (known && report.number <= known.number) return;
    const other = known ?? new ReportedNode();
    this.#nodes.set(report.node, other);
    if (report.previous === null) Object.assign(other, { draft: new Set(), isStale: false });
    else if (report.previous !== other.number) {
      other.isStale = true;
      // A known node keeps the lease of its latest complete report.
      if (!known) this.#extend(report.node, other, report.leaseMs);
      return;
    }
    other.number = report.number;
    const users = other.draft ?? other.users;
    for (const id of report.left) users.delete(id);
    for (const id of report.joined) users.add(id);
    if (report.isLast) this.#complete(other, users, report);
    this.#extend(report.node, other, report.leaseMs);
  }

  clear(): void {
    for (const { lease, typingEnd } of this.#nodes.values()) {
      clearTimeout(lease);
      clearTimeout(typingEnd);
    }
    this.#nodes.clear();
  }

  #complete(other: ReportedNode, users: Set<string>, { first, anonymous, typing }: PresenceReport): void {
    Object.assign(other, { users, draft: undefined, first, anonymous, typing: typing.map(({ id }) => id) });
    clearTimeout(other.typingEnd);
    const endTyping = () => {
      other.typing = [];
      this.#onChange();
    };
    const leftMs = Math.min(maxTypingMs, Math.max(0, ...typing.map((each) => each.leftMs)));
    if (typing.length > 0) other.typingEnd = setTimeout(endTyping, leftMs).unref();
    this.#onChange();
  }

  #extend(node: string, other: ReportedNode, leaseMs: number): void {
    clearTimeout(other.lease);
    const expire = () => {
      clearTimeout(other.typingEnd);
      this.#nodes.delete(node);
      this.#onChange();
    };
    other.lease = setTimeout(expire, Math.min(maxLeaseMs, leaseMs)).unref();
  }
}
