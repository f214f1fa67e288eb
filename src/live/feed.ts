import type { Database } from '../data/database.ts';
import { type RoomEvent, readEvents, readHeads } from '../data/events.ts';
import { type Bus, type BusMessage, roomTopic } from './bus.ts';

/** What of a room's log is kept for readers. */
export interface Retention {
  hours: number;
  count: number;
}

export interface FeedParts {
  database: Database;
  bus: Bus;
  retention: Retention;
  onLogRead: (roomId: string) => void;
}

/** Looks at who may still listen, before anyone hears of an event that may have changed it. */
export type AccessCheck = (feed: Feed) => Promise<void>;

/** Told when there is more to read, when something said before may be stale, and when the room is gone. */
export interface FeedReader {
  advance(): void;
  forget(subjectId: string): void;
  end(): void;
}

/** So many events of a room are at hand without a read of the log. */
const ringLength = 2_048;
/** So many are read at once; an idle room holds no more. */
const chunkLength = 256;
/** So many of the latest events keep what they say as it was written; a reader further behind reads it as it is now. */
const liveLength = 64;
const hourMs = 3_600_000;

/**
 * One room's events in order: the log, with the bus as a wake-up. Whatever the bus loses, repeats or reorders, `head`
 * moves by one event at a time; a gap is read from the log.
 */
export class Feed {
  readonly roomId: string;
  /** The number of the latest event that stands in the ring, or stood in the log when the feed was opened. */
  head = 0;
  deleted = false;
  readonly readers = new Set<FeedReader>();
  readonly #parts: FeedParts;
  readonly #checkAccess: AccessCheck;
  readonly #ring: RoomEvent[] = [];
  readonly #chunks = new Map<number, Promise<RoomEvent[]>>();
  #early: BusMessage[] | undefined = [];
  #healing: Promise<void> | undefined;
  #isBehind = false;
  #leaveBus: () => void = () => {};

  constructor(roomId: string, parts: FeedParts, checkAccess: AccessCheck) {
    this.roomId = roomId;
    this.#parts = parts;
    this.#checkAccess = checkAccess;
  }

  /** Live on the bus first, then the log, then what the bus said in between: no event falls through. */
  async open(): Promise<void> {
    const { bus, database } = this.#parts;
    this.#leaveBus = await bus.subscribe(roomTopic(this.roomId), (message) => this.#hear(message));
    try {
      const head = (await readHeads(database.db, [this.roomId])).get(this.roomId);
      if (head === undefined) return this.end();
      const latest = await this.#readLog(Math.max(0, head - chunkLength), chunkLength);
      for (const event of latest) this.#keep(event);
      this.head = Math.max(head, latest.at(-1)?.seq ?? 0);
      if (this.#ring.at(-1)?.seq !== this.head) this.#ring.length = 0;
    } catch (error) {
      this.#leaveBus();
      throw error;
    }
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const message of early) this.#hear(message);
  }

  close(): void {
    this.#leaveBus();
  }

  end(): void {
    this.deleted = true;
    for (const reader of [...this.readers]) reader.end();
  }

  /** Wakes every reader; one that has nothing to do goes back to sleep. */
  advance(): void {
    for (const reader of [...this.readers]) reader.advance();
  }

  /**
   * Up to `limit` events behind number `after`; none where there is nothing more. Undefined where some of them are no
   * longer kept: decided by count and age as it is read, never by how far trimming has come.
   */
  async read(after: number, limit: number): Promise<RoomEvent[] | undefined> {
    const events = await this.#find(after, limit);
    if (!events) await this.#endWhereGone();
    return events;
  }

  async #find(after: number, limit: number): Promise<RoomEvent[] | undefined> {
    if (after >= this.head) return [];
    if (after < this.head - this.#parts.retention.count) return undefined;
    const events = (this.#readRing(after, limit) ?? (await this.#readChunk(after))).slice(0, limit);
    const first = events[0];
    if (first?.seq !== after + 1 || events.at(-1)?.seq !== after + events.length) return undefined;
    return first.at < Date.now() - this.#parts.retention.hours * hourMs ? undefined : events;
  }

  /** A room that is deleted takes its log along, which may be seen before it is heard. */
  async #endWhereGone(): Promise<void> {
    const heads = await readHeads(this.#parts.database.db, [this.roomId]);
    if (!heads.has(this.roomId)) this.end();
  }

  /** Brings `head` up to where the log is now; all who wait share one reading. */
  heal(): Promise<void> {
    this.#isBehind = true;
    this.#healing ??= this.#catchUp();
    return this.#healing;
  }

  #hear(message: BusMessage): void {
    if (this.#early) return void this.#early.push(message);
    if (message.type === 'roomDeleted') return this.end();
    if (message.type !== 'roomChanged') return;
    const { event } = message;
    if (event.seq <= this.head) return;
    // What may end a stream is read from the log, where its turn waits for the look at who may still listen.
    if (event.seq === this.head + 1 && !this.#healing && !mayChangeAccess(event)) this.#push([event]);
    // A failed read is tried again by the next event or the next comparison of heads.
    else this.heal().catch(() => {});
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#isBehind) {
        // What is asked for from here on may be newer than what this reading finds.
        this.#isBehind = false;
        const events = await this.#readLog(this.head, chunkLength);
        for (const event of events) await this.#accept(event);
        this.#isBehind ||= events.length === chunkLength;
      }
    } finally {
      this.#healing = undefined;
    }
  }

  async #accept(event: RoomEvent): Promise<void> {
    if (event.seq <= this.head) return;
    if (mayChangeAccess(event)) await this.#checkAccess(this);
    this.#push([event]);
  }

  #push(events: readonly RoomEvent[]): void {
    if (events.length === 0) return;
    for (const event of events) {
      this.#keep(event);
      this.head = event.seq;
      if (event.type === 'PostUpdated' || event.type === 'PostDeleted') this.#forget(event.subjectId);
    }
    // Not one by one: each time the whole ring moves.
    if (this.#ring.length > ringLength + chunkLength) this.#ring.splice(0, chunkLength);
    this.#stripOld(events.length);
    this.advance();
  }

  /** The ring has no holes: what stands before one that trimming made is not at hand any more. */
  #keep(event: RoomEvent): void {
    if (this.#ring.at(-1)?.seq !== event.seq - 1) this.#ring.length = 0;
    this.#ring.push(event);
  }

  /** The ring holds positions, not content: only the latest events still carry it. */
  #stripOld(added: number): void {
    const end = this.#ring.length - liveLength;
    for (let index = Math.max(0, end - added); index < end; index += 1) {
      const event = this.#ring[index];
      if (event?.content) this.#ring[index] = withoutContent(event);
    }
  }

  #forget(subjectId: string): void {
    for (const reader of this.readers) reader.forget(subjectId);
  }

  #readRing(after: number, limit: number): RoomEvent[] | undefined {
    const first = this.#ring[0];
    if (!first || after + 1 < first.seq) return undefined;
    const start = after + 1 - first.seq;
    return this.#ring.slice(start, start + limit);
  }

  /** Readers far behind share their reads: chunks stand at fixed places, and one read serves all who wait for it. */
  async #readChunk(after: number): Promise<RoomEvent[]> {
    const start = after - (after % chunkLength);
    const reading = this.#chunks.get(start) ?? this.#readLog(start, chunkLength);
    this.#chunks.set(start, reading);
    try {
      const events = await reading;
      this.#extendRing(events);
      return events.filter(({ seq }) => seq > after);
    } finally {
      this.#chunks.delete(start);
    }
  }

  /** What one reader was behind, others will be too. */
  #extendRing(events: readonly RoomEvent[]): void {
    const first = this.#ring[0]?.seq;
    const older = events.filter(({ seq }) => first !== undefined && seq < first);
    if (
      first !== undefined &&
      older[0]?.seq === first - older.length &&
      older.length + this.#ring.length <= ringLength
    ) {
      this.#ring.unshift(...older);
    }
  }

  #readLog(after: number, limit: number): Promise<RoomEvent[]> {
    this.#parts.onLogRead(this.roomId);
    return readEvents(this.#parts.database.db, this.roomId, after, limit);
  }
}

function mayChangeAccess({ type }: RoomEvent): boolean {
  return type === 'MemberLeft' || type === 'RoomUpdated';
}

/** The event as a replay sees it: what it says is read anew. */
export function withoutContent({ content: _, ...event }: RoomEvent): RoomEvent {
  return event;
}
