import type { Bus, PresenceReport } from '../bus/bus.ts';
import { Pace } from '../states/pace.ts';
import type { OwnPresence } from './own-presence.ts';
import type { ReportQueue } from './report-queue.ts';

const intervalMs = 100;
const leaseMs = 30_000;
/** The lease of a report is renewed after 5 to 10 s, so that the rooms of a node are not renewed all at once. */
const maxRenewalMs = 10_000;
/** Users in one message: with the first by name, they fit into a notification of PostgreSQL. */
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
  queue: ReportQueue;
}

type LastPart = Pick<PresenceReport, 'first' | 'anonymous' | 'typing'>;
interface Part {
  joined: string[];
  left: string[];
  isLast: boolean;
}

const notLast: LastPart = { first: [], anonymous: 0, typing: [] };

/** Reports the presence in a room on this node to the other nodes. */
export class OwnReports {
  readonly #parts: OwnReportsParts;
  /** The users that the other nodes know of. */
  readonly #reported = new Set<string>();
  /** The users that have joined or left since they were reported, or both. */
  readonly #changed = new Set<string>();
  /** The number of the latest report; undefined if the next report is whole. */
  #number: number | undefined;
  #isWholeDue = false;
  /** Equal if nothing but users has changed since the latest report. Undefined if the next report is due in any case. */
  #latest: string | undefined;
  #leaseMs = leaseMs;
  #renewal: NodeJS.Timeout | undefined;
  readonly #pace = new Pace(intervalMs, () => void this.reportChanges());

  constructor(parts: OwnReportsParts) {
    this.#parts = parts;
    this.#latest = this.#describe();
  }

  /** Something has changed, and is reported soon. The user with this id may be present or absent now. */
  noteChange(userId?: string): void {
    if (!this.#hasReceivers) return;
    if (userId !== undefined) this.#changed.add(userId);
    this.#pace.request();
  }

  /** Reports what has changed since the latest report, if anything has. Resolves when it is published. */
  async reportChanges(): Promise<void> {
    if (this.#hasReceivers) await this.#parts.queue.request(this);
  }

  /** Extends the lease. `validMs`: how long it is from now on. Resolves when it is published. */
  async renew(validMs = leaseMs): Promise<void> {
    this.#leaseMs = validMs;
    if (this.#number === undefined && this.#parts.own.isEmpty) return;
    this.#latest = undefined;
    await this.reportChanges();
  }

  /**
   * Reports everything, for a node that knows nothing of this node or has missed a report. Resolves when it is published.
   */
  reportAll(): Promise<void> {
    this.#isWholeDue = true;
    return this.reportChanges();
  }

  stop(): void {
    this.#pace.stop();
    clearTimeout(this.#renewal);
  }

  /** A bus within one process has no other nodes. */
  get #hasReceivers(): boolean {
    return this.#parts.bus.kind !== 'memory';
  }

  /** Publishes what is due, in parts, with a pause after each. The queue calls it. */
  async publish(pause: () => Promise<void>): Promise<void> {
    if (this.#isWholeDue) {
      this.#isWholeDue = false;
      this.#latest = undefined;
      this.#forgetReports();
    }
    const due = this.#dueUsers();
    for (let isLast = false; !isLast; ) {
      const part = this.#takePart(due);
      ({ isLast } = part);
      if (part.joined.length + part.left.length > 0 || (isLast && this.#describe() !== this.#latest))
        this.#publishPart(part);
      if (!isLast) await pause();
    }
  }

  /** A whole report names all users. Users who change while it is published are included. */
  *#dueUsers(): Generator<string, undefined> {
    if (this.#number === undefined) yield* this.#parts.own.users.keys();
    for (const id of this.#changed) {
      this.#changed.delete(id);
      yield id;
    }
  }

  #takePart(due: Iterator<string, undefined>): Part {
    const { users } = this.#parts.own;
    const part: Part = { joined: [], left: [], isLast: false };
    for (let count = 0; count < maxIds && !part.isLast; count += 1) {
      const { value: id } = due.next();
      if (id === undefined) part.isLast = true;
      else if (users.has(id) && !this.#reported.has(id)) part.joined.push(id);
      else if (!users.has(id) && this.#reported.has(id)) part.left.push(id);
    }
    return part;
  }

  /** The next report is whole. */
  #forgetReports(): void {
    this.#number = undefined;
    this.#changed.clear();
    this.#reported.clear();
  }

  #publishPart(part: Part): void {
    const { roomId, node, bus } = this.#parts;
    const { isLast, joined, left } = part;
    node.lastNumber += 1;
    const numbers = { number: node.lastNumber, previous: this.#number ?? null };
    const last = isLast ? this.#readLastPart() : notLast;
    this.#number = node.lastNumber;
    for (const id of joined) this.#reported.add(id);
    for (const id of left) this.#reported.delete(id);
    this.#latest = isLast ? this.#describe() : undefined;
    bus.publish({
      type: 'presenceReported',
      roomId,
      node: node.id,
      ...numbers,
      ...part,
      ...last,
      leaseMs: this.#leaseMs,
    });
    if (isLast) this.#renewLater();
  }

  /** Nothing is renewed while nobody is present, so the other nodes forget this node. */
  #renewLater(): void {
    clearTimeout(this.#renewal);
    if (this.#parts.own.isEmpty) return this.#forgetReports();
    const delayMs = maxRenewalMs * (0.5 + Math.random() / 2);
    this.#renewal = setTimeout(() => void this.renew(), delayMs).unref();
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
