import type { Bus, PresenceReport } from '../bus/bus.ts';
import { chunksOf } from '../chunks.ts';
import type { OwnPresence } from './own-presence.ts';

/** The lease of a report. It is renewed three times as often. */
const leaseMs = 30_000;
export const renewalMs = 10_000;
/** Ids in one message: with the first by name, they fit into a notification of PostgreSQL. */
const maxIds = 100;

/** How this node is named in its reports. */
export interface ReportingNode {
  id: string;
  lastNumber: number;
}

interface OwnReportsParts {
  roomId: string;
  node: ReportingNode;
  own: OwnPresence;
  bus: Bus;
}

type LastPart = Pick<PresenceReport, 'first' | 'anonymous' | 'typing'>;

const notLast: LastPart = { first: [], anonymous: 0, typing: [] };

/** Reports the presence in a room on this node to the other nodes. */
export class OwnReports {
  readonly #parts: OwnReportsParts;
  /** The users that the other nodes know of. */
  readonly #reported = new Set<string>();
  /** The users that have joined or left since the latest report, or both. */
  readonly #changed = new Set<string>();
  /** The number of the latest report; undefined if the next report is whole. */
  #number: number | undefined;
  /** Equal if nothing but users has changed since the latest report. */
  #latest: string;

  constructor(parts: OwnReportsParts) {
    this.#parts = parts;
    this.#latest = this.#describe();
  }

  /** The user may be present or absent now; the next report says which. */
  noteChange(userId: string): void {
    this.#changed.add(userId);
  }

  /** Reports what has changed since the latest report, if anything has. */
  reportChanges(): void {
    const { joined, left } = this.#takeChanges();
    if (joined.length + left.length > 0 || this.#describe() !== this.#latest) this.#report(joined, left);
  }

  /** Extends the lease. `validMs`: how long, from now on. */
  renew(validMs = leaseMs): void {
    if (this.#number === undefined && this.#parts.own.isEmpty) return;
    const { joined, left } = this.#takeChanges();
    this.#report(joined, left, validMs);
  }

  /** Reports everything, for a node that knows nothing of this node or has missed a report. */
  reportAll(): void {
    this.#forgetReports();
    this.#report([...this.#parts.own.users.keys()], []);
  }

  /** A whole report names all users. */
  #takeChanges(): { joined: string[]; left: string[] } {
    const { users } = this.#parts.own;
    const changed = this.#number === undefined ? [...users.keys()] : [...this.#changed];
    this.#changed.clear();
    return {
      joined: changed.filter((id) => users.has(id) && !this.#reported.has(id)),
      left: changed.filter((id) => !users.has(id) && this.#reported.has(id)),
    };
  }

  /** The next report is whole. */
  #forgetReports(): void {
    this.#number = undefined;
    this.#changed.clear();
    this.#reported.clear();
  }

  #report(joined: readonly string[], left: readonly string[], validMs = leaseMs): void {
    const { roomId, node, own, bus } = this.#parts;
    const parts = [
      ...chunksOf(joined, maxIds).map((ids) => ({ joined: ids, left: [] })),
      ...chunksOf(left, maxIds).map((ids) => ({ joined: [], left: ids })),
    ];
    if (parts.length === 0) parts.push({ joined: [], left: [] });
    for (const part of parts) {
      const isLast = part === parts.at(-1);
      node.lastNumber += 1;
      const numbers = { number: node.lastNumber, previous: this.#number ?? null };
      this.#number = node.lastNumber;
      const last = isLast ? this.#readLastPart() : notLast;
      bus.publish({
        type: 'presenceReported',
        roomId,
        node: node.id,
        ...numbers,
        isLast,
        ...part,
        ...last,
        leaseMs: validMs,
      });
    }
    for (const id of joined) this.#reported.add(id);
    for (const id of left) this.#reported.delete(id);
    this.#latest = this.#describe();
    // Nothing is renewed while nobody is present, so the other nodes forget this node.
    if (own.isEmpty) this.#forgetReports();
  }

  #readLastPart(): LastPart {
    const { first, anonymous, typing } = this.#parts.own;
    const now = performance.now();
    const left = typing.map(({ id, endsAt }) => ({ id, leftMs: Math.max(0, Math.ceil(endsAt - now)) }));
    return { first, anonymous, typing: left };
  }

  #describe(): string {
    const { first, anonymous, typing } = this.#parts.own;
    return JSON.stringify([first, anonymous, typing.map(({ id, endsAt }) => [id, endsAt])]);
  }
}
