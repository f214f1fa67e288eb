import type { Database } from '../../data/database.ts';
import {
  findFirstPosition,
  headOf,
  type LogPosition,
  logStart,
  type RoomEvent,
  readEvents,
} from '../../data/events.ts';
import { roomEventTypes } from '../../data/room-event-types.ts';
import { findRoom } from '../../data/rooms.ts';
import type { RoomRow } from '../../data/tables.ts';
import type { Tracing } from '../../tracing/span.ts';
import { type Bus, type BusMessage, roomTopic } from '../bus/bus.ts';
import { encodeCursor } from '../cursor.ts';
import { startReceiving } from '../event-spans.ts';
import { AnnouncedTraces } from './announced-traces.ts';
import type { ContentBudget } from './event-contents.ts';
import { follows, RecentEvents } from './recent-events.ts';

/** The age and the number of events of a room that can be replayed. */
export interface Retention {
  hours: number;
  count: number;
}

export interface FeedParts {
  database: Database;
  bus: Bus;
  retention: Retention;
  onLogRead: (roomId: string) => void;
  /** The memory budget for the content of recent events, shared by all rooms. */
  contents: ContentBudget;
  /** Undefined if no traces are recorded. */
  tracing: Tracing | undefined;
}

/**
 * Ends the streams of viewers who lost access; runs before an event that may have changed access is delivered.
 * `isRewound`: access may have changed without an event.
 */
export type AccessCheck = (feed: Feed, isRewound: boolean) => Promise<void>;

/** Notified when there are new events, when cached replays of a subject are stale, and when the room is deleted. */
export interface FeedReader {
  advance(): void;
  /** The feed has found the database rewound: positions must be checked against the log again. */
  restart(): void;
  forgetSubject(subjectId: string): void;
  end(): void;
}

/** Notified when viewers may have lost access to the room, and when it is deleted. */
export interface FeedFollower {
  checkAccess(): Promise<void>;
  end(): void;
}

/** The reason why a position cannot be read from: the events after it were trimmed, or the log has another history. */
export type ReadFailure = 'trimmed' | 'rewound';

/** Who deleted the room, if that is known, and when this process found out, in milliseconds since 1970. */
export interface RoomDeletion {
  actorId: string | null;
  at: number;
}

/** The number of events in one read of the log; a feed without traffic holds no more in memory. */
export const chunkLength = 256;
const hourMs = 3_600_000;

/**
 * The events of one room, in order. The log is the source; the bus only notifies the feed. `head` moves by one event at
 * a time, even if the bus loses, repeats or reorders messages; the feed reads missing events from the log. Each event
 * has the mark of the event before it, so that the feed detects a rewound database (a restored backup, a failover)
 * before it sends an event of the new history.
 */
export class Feed {
  readonly roomId: string;
  /** The position of the latest event that this feed has read. */
  head: LogPosition = logStart;
  /** Increases each time the database is found rewound; older positions must be checked against the log again. */
  generation = 0;
  /** The room as it was when the log was last read. */
  room: RoomRow | undefined;
  /** Undefined while the room exists. */
  deletion: RoomDeletion | undefined;
  readonly readers = new Set<FeedReader>();
  readonly followers = new Set<FeedFollower>();
  readonly #parts: FeedParts;
  readonly #checkAccess: AccessCheck;
  readonly #recent: RecentEvents;
  readonly #announced = new AnnouncedTraces();
  readonly #chunks = new Map<number, Promise<RoomEvent[]>>();
  #early: BusMessage[] | undefined = [];
  #syncing: Promise<void> | undefined;
  #isBehind = false;
  #leaveBus: () => void = () => {};

  constructor(roomId: string, parts: FeedParts, checkAccess: AccessCheck) {
    this.roomId = roomId;
    this.#parts = parts;
    this.#recent = new RecentEvents(parts.contents);
    this.#checkAccess = checkAccess;
  }

  /**
   * Subscribes to the bus, then reads the log, then handles the messages received meanwhile, so that no event is
   * missed. `recentCount`: the number of events that are read into memory.
   */
  async open(recentCount: number): Promise<void> {
    const { bus } = this.#parts;
    this.#leaveBus = await bus.subscribe(roomTopic(this.roomId), (message) => this.#receive(message));
    try {
      const head = await this.#findHead();
      if (!head) return this.end();
      for (const event of await this.#readLog(Math.max(0, head.seq - recentCount)))
        this.#recent.append(event, this.room);
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

  get deleted(): boolean {
    return this.deletion !== undefined;
  }

  /** The room was deleted. `actorId`: the user who deleted it, if that is known. */
  end(actorId: string | null = null): void {
    if (this.deletion) return;
    this.deletion = { actorId, at: Date.now() };
    for (const each of [...this.readers, ...this.followers]) each.end();
  }

  /** The cursor of `head`, from which clients can resume. */
  get cursor(): string {
    const { seq, mark } = this.head;
    return encodeCursor({ roomId: this.roomId, seq, mark });
  }

  /** Notifies every reader; a reader without new events does nothing. */
  advance(): void {
    for (const reader of [...this.readers]) reader.advance();
  }

  /** Reads up to `limit` events after a position, or returns the reason why the position cannot be read from. */
  async read(after: LogPosition, limit: number): Promise<readonly RoomEvent[] | ReadFailure> {
    const found = await this.#find(after, limit);
    if (!isReadFailure(found)) return found;
    // The position may be newer than this feed, or belong to a history that this feed has not detected yet.
    await this.syncWithLog();
    return this.#find(after, limit);
  }

  /**
   * The read decides by number and age which events are past the retention; it does not depend on the progress of
   * trimming.
   */
  async #find(after: LogPosition, limit: number): Promise<readonly RoomEvent[] | ReadFailure> {
    if (after.seq > this.head.seq) return 'rewound';
    if (after.seq === this.head.seq) return after.mark === this.head.mark ? [] : 'rewound';
    if (after.seq < this.head.seq - this.#parts.retention.count) return 'trimmed';
    const events = (this.#recent.read(after.seq, limit) ?? (await this.#readChunk(after.seq))).slice(0, limit);
    const first = events[0];
    if (first?.seq !== after.seq + 1 || events.at(-1)?.seq !== after.seq + events.length) return 'trimmed';
    if (!follows(first, after)) return 'rewound';
    return first.at < Date.now() - this.#parts.retention.hours * hourMs ? 'trimmed' : events;
  }

  /** The earliest position after which all events are available. */
  async findOldest(): Promise<LogPosition> {
    const { database, retention } = this.#parts;
    const after = this.head.seq - retention.count;
    const since = Date.now() - retention.hours * hourMs;
    return (await findFirstPosition(database.db, { roomId: this.roomId, after, since })) ?? this.head;
  }

  /** Moves `head` to the end of the log; concurrent calls share one read. */
  syncWithLog(): Promise<void> {
    this.#isBehind = true;
    this.#syncing ??= this.#catchUp();
    return this.#syncing;
  }

  #receive(message: BusMessage): void {
    if (this.#early) return void this.#early.push(message);
    if (message.type === 'roomDeleted') return this.end(message.actorId);
    if (message.type === 'roomMayHaveChanged') this.syncWithLog().catch(() => {});
    if (message.type !== 'roomChanged') return;
    const { event } = message;
    if (this.#isRepeated(event)) return;
    // An event that may change access is read from the log instead, because that path waits for the access check.
    if (follows(event, this.head) && !this.#syncing && !roomEventTypes[event.type].mayEndAccess) this.#process(event);
    else this.#readAnnounced(event);
  }

  /** The next event or the next comparison of heads repeats a failed read. */
  #readAnnounced(event: RoomEvent): void {
    this.#announced.add(event);
    this.syncWithLog().catch(() => {});
  }

  /** The deliveries of the event belong to the span in which it is received. */
  #process(event: RoomEvent): void {
    const span = startReceiving(this.#parts.tracing, event);
    this.#push(span ? { ...event, trace: span.context } : event);
    span?.end();
  }

  /**
   * Detects a repeated or late message. A message with the number of an earlier event but another mark is neither: it
   * shows a rewind.
   */
  #isRepeated({ seq, mark }: RoomEvent): boolean {
    if (seq > this.head.seq) return false;
    const current = seq === this.head.seq ? this.head : this.#recent.find(seq);
    return current === undefined || current.mark === mark;
  }

  async #catchUp(): Promise<void> {
    try {
      while (this.#isBehind) {
        // Calls of `syncWithLog` from here on may ask for events that this read does not find.
        this.#isBehind = false;
        await this.#readAhead();
      }
    } finally {
      this.#syncing = undefined;
    }
  }

  /** Nothing else moves `head` while this runs. */
  async #readAhead(): Promise<void> {
    const head = await this.#findHead();
    if (!head) return this.end();
    if (head.seq === this.head.seq && head.mark === this.head.mark) return;
    if (head.seq <= this.head.seq) return this.#rewind(head);
    const events = await this.#readLog(this.head.seq);
    const [first] = events;
    if (first?.seq === this.head.seq + 1 && !follows(first, this.head)) return this.#rewind(head);
    // All events after `head` have been trimmed. Readers find out with their next read.
    if (!first) this.#skipTo(head);
    for (const event of events) {
      if (roomEventTypes[event.type].mayEndAccess) await this.#checkAllAccess(false);
      this.#process(this.#announced.restore(event));
    }
    this.#isBehind ||= events.length === chunkLength;
  }

  async #checkAllAccess(isRewound: boolean): Promise<void> {
    await this.#checkAccess(this, isRewound);
    for (const follower of [...this.followers]) await follower.checkAccess();
  }

  /** The database has another history than the one read so far. Only positions that both histories share stay valid. */
  async #rewind(head: LogPosition): Promise<void> {
    await this.#checkAllAccess(true);
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
    this.#recent.append(event, this.room);
    // A reference to the event itself would keep its content in memory.
    this.head = { seq: event.seq, mark: event.mark };
    if (roomEventTypes[event.type].changesContent) this.#forgetSubject(event.subjectId);
    this.advance();
  }

  #forgetSubject(subjectId: string): void {
    for (const reader of this.readers) reader.forgetSubject(subjectId);
  }

  /**
   * Reads of old events are shared: chunks start at fixed numbers, and concurrent readers of a chunk wait for one read.
   */
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

  async #findHead(): Promise<LogPosition | undefined> {
    const room = await findRoom(this.#parts.database.db, this.roomId);
    if (room) this.room = room;
    return room && headOf(room);
  }

  #readLog(after: number): Promise<RoomEvent[]> {
    this.#parts.onLogRead(this.roomId);
    return readEvents(this.#parts.database.db, this.roomId, after, chunkLength);
  }
}

export function isReadFailure(found: readonly RoomEvent[] | ReadFailure): found is ReadFailure {
  return typeof found === 'string';
}
