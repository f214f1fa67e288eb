import { setTimeout as wait } from 'node:timers/promises';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { LimitedQueue } from '../../common/limited-queue.ts';
import { type Bus, hasOtherNodes } from '../bus/bus.ts';
import { Pace } from '../pace.ts';
import type { OwnPresence } from './own-presence.ts';

const intervalMs = 100;
const backlogCheckMs = 5;
/** More rooms than have viewers at a time. The reports of further ones are left out, and their leases end. */
const maxWaiting = 50_000;
const leaseMs = 30_000;
/** The lease of a report is renewed after 5 to 10 s, so that the rooms of a node are not renewed all at once. */
const maxRenewalMs = 10_000;
/** Users in one message: with the first by name, they fit into a notification of PostgreSQL. */
const maxIds = 100;

/** This node, for all its rooms. */
interface PresenceNode {
  /** How it is named in its reports. */
  id: string;
  /** The number of its latest report. */
  lastNumber: number;
  /** Its lost connections that may come back. */
  absences: number;
  /** Its rooms report one after the other, as fast as the bus sends the reports. */
  queue: LimitedQueue;
  /** What is due is not published any more. */
  hasStopped: boolean;
}

export interface OwnReportsParts {
  roomId: string;
  node: PresenceNode;
  own: OwnPresence;
  bus: Bus;
  onError: (error: unknown) => void;
}

/** The properties that only the last part of a report has. */
const notLast: Pick<OwnPresence, 'first' | 'anonymous' | 'typing'> = { first: [], anonymous: 0, typing: [] };

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
  #leaseMs = leaseMs;
  /** The report that waits for its turn. */
  #due: Promise<void> | undefined;
  #renewal: NodeJS.Timeout | undefined;
  readonly #pace: Pace;

  constructor(parts: OwnReportsParts) {
    this.#parts = parts;
    this.#pace = new Pace(intervalMs, () => this.reportChanges(), parts.onError);
  }

  /** Something has changed, and is reported soon. The user with this id may be present or absent now. */
  noteChange(userId?: string): void {
    if (!hasOtherNodes(this.#parts.bus)) return;
    if (userId !== undefined) this.#changed.add(userId);
    this.#pace.request();
  }

  /** Reports what has changed since the latest report. Resolves when it is published. */
  async reportChanges(): Promise<void> {
    const { bus, node } = this.#parts;
    if (!hasOtherNodes(bus) || (!this.#due && node.queue.size >= maxWaiting)) return;
    this.#due ??= node.queue.run(() => this.#publish());
    await this.#due;
  }

  /** Extends the lease. `validMs`: how long it is from now on. Resolves when it is published. */
  async renew(validMs = leaseMs): Promise<void> {
    this.#leaseMs = validMs;
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

  /** Publishes what is due, in parts, with a pause before each. */
  async #publish(): Promise<void> {
    await this.#pause();
    // A request from now on is for another report.
    this.#due = undefined;
    // Without viewers there is nothing to report to nodes that know nothing of this node.
    const isNothing = this.#number === undefined && this.#parts.own.isEmpty && !this.#isWholeDue;
    if (this.#isWholeDue || isNothing) this.#forgetReports();
    this.#isWholeDue = false;
    if (isNothing) return;
    const due = this.#dueUsers();
    while (!this.#parts.node.hasStopped && !this.#publishPart(due)) await this.#pause();
  }

  async #pause(): Promise<void> {
    await yieldWhenDue();
    while (this.#parts.bus.hasBacklog()) await wait(backlogCheckMs, undefined, { ref: false });
  }

  /** A whole report names all users. Users who change while it is published are included. */
  *#dueUsers(): Generator<string, undefined> {
    if (this.#number === undefined) yield* this.#parts.own.users.keys();
    for (const id of this.#changed) {
      this.#changed.delete(id);
      yield id;
    }
  }

  /** The next report is whole. */
  #forgetReports(): void {
    this.#number = undefined;
    this.#changed.clear();
    this.#reported.clear();
  }

  /** Publishes a part with some of the users that are due. Returns whether it was the last. */
  #publishPart(due: Iterator<string, undefined>): boolean {
    const { roomId, node, bus, own } = this.#parts;
    const [joined, left]: [string[], string[]] = [[], []];
    let isLast = false;
    for (let count = 0; count < maxIds && !isLast; count += 1) {
      const { value: id } = due.next();
      if (id === undefined) isLast = true;
      else if (own.users.has(id)) {
        if (!this.#reported.has(id)) joined.push(id);
        this.#reported.add(id);
      } else if (this.#reported.delete(id)) left.push(id);
    }
    const previous = this.#number ?? null;
    node.lastNumber += 1;
    this.#number = node.lastNumber;
    const numbers = { node: node.id, number: node.lastNumber, previous, leaseMs: this.#leaseMs };
    const { first, anonymous, typing } = isLast ? own : notLast;
    const leftMs = (endsAt: number) => Math.max(0, Math.ceil(endsAt - performance.now()));
    const last = { first, anonymous, typing: typing.map(({ id, endsAt }) => ({ id, leftMs: leftMs(endsAt) })) };
    bus.publish({ type: 'presenceReported', roomId, ...numbers, isLast, joined, left, ...last });
    if (isLast) this.#renewLater();
    return isLast;
  }

  /** Nothing is renewed while nobody is present, so the other nodes forget this node. */
  #renewLater(): void {
    clearTimeout(this.#renewal);
    if (this.#parts.own.isEmpty) return this.#forgetReports();
    const delayMs = maxRenewalMs * (0.5 + Math.random() / 2);
    this.#renewal = setTimeout(() => void this.renew(), delayMs).unref();
  }
}
