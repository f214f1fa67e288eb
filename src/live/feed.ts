import type { Database } from '../data/database.ts';
import { findHead, type LogPosition, logStart, type RoomEvent, readEvents } from '../data/events.ts';
import { type Bus, type BusMessage, roomTopic } from './bus/bus.ts';
import { encodeCursor } from './cursor.ts';
import type { ContentBudget } from './event-contents.ts';
import { follows, RecentEvents } from './recent-events.ts';

/** Which events of a room are kept for readers. */
export interface Retention {
  hours: number;
  count: number;
}

export interface FeedParts {
  database: Database;
  bus: Bus;
  retention: Retention;
  onLogRead: (roomId: string) => void;
  /** What all rooms together keep of the content of their recent events. */
  contents: ContentBudget;
}

/** Checks who may still listen, before anyone receives an event that may have changed it. */
export type AccessCheck = (feed: Feed) => Promise<void>;

/** Notified when there is more to read, when something sent before may be stale, and when the room is gone. */
export interface FeedReader {
  advance(): void;
  /** The feed has found the database rewound: positions have to be looked up again. */
  restart(): void;
  forget(subjectId: string): void;
  end(): void;
}

/** Why nothing can be read from a position: what follows it is no longer kept, or the log does not hold the position. */
export type Loss = 'trimmed' | 'rewound';

/** How many events are read from the log at once; an idle room holds no more. */
const chunkLength = 256;
const hourMs = 3_600_000;

/**
 * One room's events in order: the log, with the bus as a wake-up. Whatever the bus loses, repeats or reorders, `head`
 * moves by one event at a time; a gap is read from the log. Each event names the mark of the one before it, so that a
 * database that was rewound (a restored backup, a failover) is noticed before anything of its new history is sent.
 */
export class Feed {
  readonly roomId: string;
  /** Where the log ends, as far as this feed has read it. */
  head: LogPosition = logStart;
  /** Grows each time the database is found rewound: a position from before has to be looked up again. */
  generation = 0;
  deleted = false;
  readonly readers = new Set<FeedReader>();
  readonly #parts: FeedParts;
  readonly #checkAccess: AccessCheck;
  readonly #recent: RecentEvents;
  readonly #chunks = new Map<number, Promise<RoomEvent[]>>();
  #early: BusMessage[] | undefined = [];
  #healing: Promise<void> | undefined;
  #isBehind = false;
  #leaveBus: () => void = () => {};

  constructor(roomId: string, parts: FeedParts, checkAccess: AccessCheck) {
    this.roomId = roomId;
    this.#parts = parts;
    this.#recent = new RecentEvents(parts.contents);
    this.#checkAccess = checkAccess;
  }

  /** Live on the bus first, then the log, then what the bus brought in between: no event is missed. */
  async open(): Promise<void> {
    const { bus } = this.#parts;
    this.#leaveBus = await bus.subscribe(roomTopic(this.roomId), (message) => this.#receive(message));
    try {
      const head = await this.#findHead();
      if (!head) return this.end();
      for (const event of await this.#readLog(Math.max(0, head.seq - chunkLength))) this.#recent.append(event);
      const { latest } = this.#recent;
      this.head = latest && latest.seq >= head.seq ? latest : head;
      if (latest !== this.head) this.#recent.clear();
    } catch (error) {
      this.#leaveBus();
      throw error;
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.#receive(message);
  }

  close(): void {
    this.#leaveBus();
    this.#recent.clear();
  }

  end(): void {
    this.deleted = true;
    for (const reader of [...this.readers]) reader.end();
  }

  /** Where the log ends, for clients to continue from. */
  get cursor(): string {
    const { seq, mark } = this.head;
    return encodeCursor({ roomId: this.roomId, seq, mark });
  }

  /** Wakes every reader; one that has nothing to do goes back to sleep. */
  advance(): void {
    for (const reader of [...this.readers]) reader.advance();
  }

  /** Up to `limit` events after a position, none where there is nothing more; or why none can be read from there. */
  async read(after: LogPosition, limit: number): Promise<readonly RoomEvent[] | Loss> {
    const found = await this.#find(after, limit);
    if (!isLoss(found)) return found;
    // The position may be newer than this feed, or of a history that this feed has yet to notice.
    await this.heal();
    return this.#find(after, limit);
  }

  /** What is no longer kept is decided by count and age as it is read, never by how far trimming has come. */
  async #find(after: LogPosition, limit: number): Promise<readonly RoomEvent[] | Loss> {
    if (after.seq > this.head.seq) return 'rewound';
    if (after.seq === this.head.seq) return after.mark === this.head.mark ? [] : 'rewound';
    if (after.seq < this.head.seq - this.#parts.retention.count) return 'trimmed';
    const events = (this.#recent.read(after.seq, limit) ?? (await this.#readChunk(after.seq))).slice(0, limit);
    const first = events[0];
    if (first?.seq !== after.seq + 1 || events.at(-1)?.seq !== after.seq + events.length) return 'trimmed';
    if (!follows(first, after)) return 'rewound';
    return first.at < Date.now() - this.#parts.retention.hours * hourMs ? 'trimmed' : events;
  }

  /** Brings `head` up to where the log ends now; all who wait share one reading. */
  heal(): Promise<void> {
    this.#isBehind = true;
    this.#healing ??= this.#catchUp();
    return this.#healing;
  }

  #receive(message: BusMessage): void {
    if (this.#early) return void this.#early.push(message);
    if (message.type === 'roomDeleted') return this.end();
    if (message.type !== 'roomChanged') return;
    const { event } = message;
    if (this.#isKnown(event)) return;
    // An event that may end a stream is read from the log, where its turn waits for the access check.
    if (follows(event, this.head) && !this.#healing && !mayChangeAccess(event)) this.#push(event);
    // A failed read is tried again by the next event or the next comparison of heads.
    else this.heal().catch(() => {});
  }

  /** Messages may come twice or late. One that carries a known number with another mark is neither. */
  #isKnown({ seq, mark }: RoomEvent): boolean {
    if (seq > this.head.seq) return false;
    const known = seq === this.head.seq ? this.head : this.#recent.find(seq);
    return known === undefined || known.mark === mark;
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#isBehind) {
        // What is asked for from here on may be newer than what this reading finds.
        this.#isBehind = false;
        await this.#readAhead();
      }
    } finally {
      this.#healing = undefined;
    }
  }

  /** While it runs nothing else moves `head`. */
  async #readAhead(): Promise<void> {
    const head = await this.#findHead();
    if (!head) return this.end();
    if (head.seq === this.head.seq && head.mark === this.head.mark) return;
    if (head.seq <= this.head.seq) return this.#rewind(head);
    const events = await this.#readLog(this.head.seq);
    const [first] = events;
    if (first?.seq === this.head.seq + 1 && !follows(first, this.head)) return this.#rewind(head);
    // Everything after the known position has been trimmed: readers find out by reading on.
    if (!first) this.#skipTo(head);
    for (const event of events) {
      if (mayChangeAccess(event)) await this.#checkAccess(this);
      this.#push(event);
    }
    this.#isBehind ||= events.length === chunkLength;
  }

  /** The database holds another history than the one that was read: only positions that both have in common still count. */
  async #rewind(head: LogPosition): Promise<void> {
    await this.#checkAccess(this);
    this.generation += 1;
    this.head = head;
    this.#recent.clear();
    this.#chunks.clear();
    for (const reader of [...this.readers]) reader.restart();
  }

  #skipTo(head: LogPosition): void {
    this.#recent.clear();
    this.head = head;
    this.advance();
  }

  #push(event: RoomEvent): void {
    this.#recent.append(event);
    // Not the event itself, which would keep its content.
    this.head = { seq: event.seq, mark: event.mark };
    if (event.type === 'PostUpdated' || event.type === 'PostDeleted') this.#forget(event.subjectId);
    this.advance();
  }

  #forget(subjectId: string): void {
    for (const reader of this.readers) reader.forget(subjectId);
  }

  /** Readers far behind share their reads: chunks start at fixed numbers, and one read serves all who wait for it. */
  async #readChunk(after: number): Promise<RoomEvent[]> {
    const start = after - (after % chunkLength);
    const reading = this.#chunks.get(start) ?? this.#readLog(start);
    this.#chunks.set(start, reading);
    try {
      const events = await reading;
      this.#recent.prepend(events);
      return events.filter(({ seq }) => seq > after);
    } finally {
      this.#chunks.delete(start);
    }
  }

  #findHead(): Promise<LogPosition | undefined> {
    return findHead(this.#parts.database.db, this.roomId);
  }

  #readLog(after: number): Promise<RoomEvent[]> {
    this.#parts.onLogRead(this.roomId);
    return readEvents(this.#parts.database.db, this.roomId, after, chunkLength);
  }
}

export function isLoss(found: readonly RoomEvent[] | Loss): found is Loss {
  return typeof found === 'string';
}

function mayChangeAccess({ type }: RoomEvent): boolean {
  return type === 'MemberLeft' || type === 'RoomUpdated';
}
