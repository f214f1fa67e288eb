import { setTimeout as wait } from 'node:timers/promises';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { LimitedQueue } from '../../common/limited-queue.ts';
import { type Bus, hasOtherNodes } from '../bus/bus.ts';
import { Pace } from '../pace.ts';
import type { OwnPresence } from './own-presence.ts';
import type { PresencePart } from './presence-state.ts';

const intervalMs = 100;
const backlogCheckMs = 5;
/** More rooms than have viewers at a time. The reports of further ones are left out, and their leases end. */
const maxWaiting = 50_000;
export const maxLeaseMs = 30_000;
/** Reports are repeated after 5 to 10 s, so that the rooms of a node do not repeat theirs all at once. */
const maxRepeatMs = 10_000;
/** Users on one page: with the first by name, they fit into a notification of PostgreSQL. */
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

/** Only the first page has more than users. */
const onlyUsers: Omit<PresencePart, 'users'> = { first: [], anonymous: 0, typing: [] };

/** Reports the presence in a room on this node to the other nodes: in pages, of which each is complete in itself. */
export class OwnReports {
  readonly #parts: OwnReportsParts;
  /** The ids of the present users, by page. */
  readonly #pages = [new Set<string>()];
  /** The pages that have changed since they were reported. */
  readonly #changed = new Set<number>();
  #leaseMs = maxLeaseMs;
  /** The report that waits for its turn. */
  #due: Promise<void> | undefined;
  #repetition: NodeJS.Timeout | undefined;
  readonly #pace: Pace;

  constructor(parts: OwnReportsParts) {
    this.#parts = parts;
    this.#pace = new Pace(intervalMs, () => this.reportChanges(), parts.onError);
  }

  /** Something has changed, and is reported soon. The user with this id may be present or absent now. */
  noteChange(userId?: string): void {
    if (!hasOtherNodes(this.#parts.bus)) return;
    this.#changed.add(0);
    if (userId !== undefined) this.#place(userId);
    this.#pace.request();
  }

  /** Reports the pages that have changed since they were reported. Resolves when they are published. */
  async reportChanges(): Promise<void> {
    const { bus, node } = this.#parts;
    if (!hasOtherNodes(bus) || (!this.#due && node.queue.size >= maxWaiting)) return;
    this.#due ??= node.queue.run(() => this.#publish());
    await this.#due;
  }

  /** Reports everything. Resolves when it is published. */
  reportAll(): Promise<void> {
    for (const index of this.#pages.keys()) this.#changed.add(index);
    return this.reportChanges();
  }

  /** What was reported is valid for this time, from now on. Resolves when that is published. */
  shortenLease(leaseMs: number): Promise<void> {
    this.#leaseMs = leaseMs;
    this.#changed.add(0);
    return this.reportChanges();
  }

  stop(): void {
    this.#pace.stop();
    clearTimeout(this.#repetition);
  }

  #place(userId: string): void {
    const isPresent = this.#parts.own.users.has(userId);
    const known = this.#pages.findIndex((page) => page.has(userId));
    if (isPresent === known >= 0) return;
    const free = isPresent ? this.#pages.findIndex(({ size }) => size < maxIds) : known;
    const index = free < 0 ? this.#pages.push(new Set()) - 1 : free;
    if (isPresent) this.#pages[index]?.add(userId);
    else this.#pages[index]?.delete(userId);
    this.#changed.add(index);
    while (this.#pages.length > 1 && this.#pages.at(-1)?.size === 0) this.#pages.pop();
  }

  /** Publishes what has changed, page by page, with a pause before each. */
  async #publish(): Promise<void> {
    await this.#pause();
    // What changes from now on is for another report.
    this.#due = undefined;
    const changed = [...this.#changed];
    this.#changed.clear();
    for (const index of changed) {
      if (this.#parts.node.hasStopped) return;
      this.#publishPage(index);
      await this.#pause();
    }
    if (changed.length > 0) this.#repeatLater();
  }

  async #pause(): Promise<void> {
    await yieldWhenDue();
    while (this.#parts.bus.hasBacklog()) await wait(backlogCheckMs, undefined, { ref: false });
  }

  #publishPage(index: number): void {
    const { roomId, node, bus, own } = this.#parts;
    const page = this.#pages[index];
    if (!page) return;
    node.lastNumber += 1;
    const { first, anonymous, typing } = index === 0 ? own : onlyUsers;
    bus.publish({
      type: 'presencePageReported',
      roomId,
      node: node.id,
      number: node.lastNumber,
      index,
      pageCount: this.#pages.length,
      users: [...page],
      first,
      anonymous,
      typing,
      leaseMs: this.#leaseMs,
    });
  }

  /** Also while other pages change; no longer when nobody is present, so that the other nodes forget this node. */
  #repeatLater(): void {
    if (this.#repetition || this.#parts.own.isEmpty) return;
    const delayMs = maxRepeatMs * (0.5 + Math.random() / 2);
    this.#repetition = setTimeout(() => {
      this.#repetition = undefined;
      void this.reportAll();
    }, delayMs).unref();
  }
}
