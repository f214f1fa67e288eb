import { setTimeout as wait } from 'node:timers/promises';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { LimitedQueue } from '../../common/limited-queue.ts';
import { type Bus, hasOtherNodes, type PresencePage } from '../bus/bus.ts';
import { createPace, type Pace } from '../pace.ts';
import type { OwnPresence } from './own-presence.ts';
import type { PresencePart } from './presence-state.ts';

const intervalMs = 100;
const backlogCheckMs = 5;
/** More rooms than have viewers at a time. The reports of further ones are left out, and their leases end. */
const maxWaiting = 50_000;
const maxLeaseMs = 30_000;
/** Reports are repeated after 5 to 10 s, so that the rooms of a node do not repeat theirs all at once. */
const maxRepeatMs = 10_000;
const maxTypingMs = 5_000;
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

export interface PresenceReportsParts {
  roomId: string;
  node: PresenceNode;
  own: OwnPresence;
  bus: Bus;
  /** Called after each change of what the other nodes have reported. */
  onReport: () => void;
  onError: (error: unknown) => void;
}

/** Only the first page has more than users. */
const onlyUsers: Omit<PresencePart, 'users'> = { first: [], anonymous: 0, typing: [] };

/** What another node has reported. */
interface ReportedNode {
  /** By index. */
  pages: Map<number, PresencePart & { number: number; pageCount: number }>;
  lease?: NodeJS.Timeout;
  typingEnd?: NodeJS.Timeout;
}

/**
 * What the nodes report to each other of the presence in a room: in pages, of which each is complete in itself. It publishes
 * the presence on this node, and contains what the others have reported.
 */
export class PresenceReports {
  readonly #parts: PresenceReportsParts;
  /** The ids of the users who are present on this node, by page. */
  readonly #ownPages = [new Set<string>()];
  /** The pages of this node that have changed since they were reported. */
  readonly #changed = new Set<number>();
  #leaseMs = maxLeaseMs;
  /** The report that waits for its turn. */
  #due: Promise<void> | undefined;
  #repetition: NodeJS.Timeout | undefined;
  readonly #pace: Pace;
  readonly #otherNodes = new Map<string, ReportedNode>();

  constructor(parts: PresenceReportsParts) {
    this.#parts = parts;
    this.#pace = createPace(intervalMs, () => this.reportChanges(), parts.onError);
  }

  /** The pages of all other nodes. */
  *pages(): Generator<PresencePart> {
    for (const { pages } of this.#otherNodes.values()) {
      const { pageCount = 0 } = pages.get(0) ?? {};
      for (const [index, page] of pages) if (index < pageCount) yield page;
    }
  }

  receive({ node: id, index, leaseMs, users, ...page }: PresencePage): void {
    if (id === this.#parts.node.id) return;
    const node: ReportedNode = this.#otherNodes.get(id) ?? { pages: new Map() };
    // It is repeated or late.
    if (page.number <= (node.pages.get(index)?.number ?? 0)) return;
    const current = { ...page, users: new Set(users) };
    node.pages.set(index, current);
    if (index === 0) dropPages(node.pages, current);
    this.#otherNodes.set(id, node);
    clearTimeout(node.lease);
    // A node that reports a longer lease is not believed.
    node.lease = setTimeout(() => this.#forget(id), Math.min(maxLeaseMs, leaseMs)).unref();
    if (page.typing.length > 0) {
      clearTimeout(node.typingEnd);
      node.typingEnd = setTimeout(() => this.#endTyping(current), maxTypingMs).unref();
    }
    this.#parts.onReport();
  }

  /** Something has changed on this node, and is reported soon. The user with this id may be present or absent now. */
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
    for (const index of this.#ownPages.keys()) this.#changed.add(index);
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
    for (const { lease, typingEnd } of this.#otherNodes.values()) {
      clearTimeout(lease);
      clearTimeout(typingEnd);
    }
    this.#otherNodes.clear();
  }

  /** The node has not reported since that its users type. */
  #endTyping(page: PresencePart): void {
    page.typing = [];
    this.#parts.onReport();
  }

  #forget(id: string): void {
    this.#otherNodes.delete(id);
    this.#parts.onReport();
  }

  #place(userId: string): void {
    const isPresent = this.#parts.own.users.has(userId);
    const known = this.#ownPages.findIndex((page) => page.has(userId));
    if (isPresent === known >= 0) return;
    const free = isPresent ? this.#ownPages.findIndex(({ size }) => size < maxIds) : known;
    const index = free < 0 ? this.#ownPages.push(new Set()) - 1 : free;
    if (isPresent) this.#ownPages[index]?.add(userId);
    else this.#ownPages[index]?.delete(userId);
    this.#changed.add(index);
    while (this.#ownPages.length > 1 && this.#ownPages.at(-1)?.size === 0) this.#ownPages.pop();
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
    const page = this.#ownPages[index];
    if (!page) return;
    node.lastNumber += 1;
    const { first, anonymous, typing } = index === 0 ? own : onlyUsers;
    bus.publish({
      type: 'presencePageReported',
      roomId,
      node: node.id,
      number: node.lastNumber,
      index,
      pageCount: this.#ownPages.length,
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

/** Drops the pages that the node no longer had when it reported its first one. */
function dropPages(pages: ReportedNode['pages'], first: { number: number; pageCount: number }): void {
  for (const [index, { number }] of pages) if (index >= first.pageCount && number < first.number) pages.delete(index);
}
