import { CoalescedWork } from '../../common/coalesced-work.ts';
import { findMembersAmong } from '../../data/domain/memberships.ts';
import { findRoom } from '../../data/domain/rooms.ts';
import type { ViewerScope } from '../../data/domain/visible-rooms.ts';
import {
  follows,
  headOf,
  isReadFailure,
  type LogPosition,
  logStart,
  type ReadFailure,
  type RoomEvent,
} from '../../data/event-log/events.ts';
import { type ExtensionEvents, traitsOf } from '../../data/event-log/room-event-types.ts';
import type { RoomRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import type { TraceContext, Tracing } from '../../tracing/tracing.ts';
import { type Bus, type BusMessage, roomTopic } from '../bus/bus.ts';
import { encodeCursor } from '../cursor.ts';
import { startReceiving } from '../event-spans.ts';
import { chunkLength, RoomLog, type RoomLogParts } from './room-log.ts';

/** Messages may arrive that no read follows, so their number is limited. */
const maxAnnounced = 256;

export interface FeedParts extends RoomLogParts {
  bus: Bus;
  /** Undefined if no traces are recorded. */
  tracing: Tracing | undefined;
  extensionEvents?: ExtensionEvents;
  /** The database was found rewound: inboxes may have lost access to the room without an event. */
  onRewound: (roomId: string) => Promise<void>;
}

/** Notified when there are new events, when cached replays of a subject are stale, and when the room is deleted. */
export interface FeedGroup {
  advance(): void;
  /** The feed has found the database rewound: positions must be checked against the log again. */
  restart(): void;
  forgetSubject(subjectId: string): void;
  end(): void;
}

/** A stream, or whatever else ends when its viewer may not see the room any more. */
export interface AccessHolder {
  readonly viewerScope: ViewerScope;
  end(error: ClientError): void;
}

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
  /**
   * Who deleted the room, if that is known, and when this process found out, in milliseconds since 1970. Undefined while
   * the room exists.
   */
  deletion: { actorId: string | null; at: number } | undefined;
  readonly groups = new Set<FeedGroup>();
  /** What ends with the access of its viewer to the room, and with the room. */
  readonly subscribers = new Set<AccessHolder>();
  readonly holders = new Set<Iterable<AccessHolder>>([this.subscribers]);
  readonly #parts: FeedParts;
  readonly #log: RoomLog;
  /** By number: the traces of events that the bus has announced, and that are read from the log, which has no traces. */
  readonly #announced = new Map<number, { mark: number; trace: TraceContext }>();
  #early: BusMessage[] | undefined = [];
  readonly #syncing = new CoalescedWork(() => this.#readAhead());
  #leaveBus: () => void = () => {};

  constructor(roomId: string, parts: FeedParts) {
    this.roomId = roomId;
    this.#parts = parts;
    this.#log = new RoomLog(roomId, parts);
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
      for (const event of await this.#log.readChunk(Math.max(0, head.seq - recentCount)))
        this.#log.append(event, this.room);
      const { latest } = this.#log;
      this.head = latest && latest.seq >= head.seq ? latest : head;
      if (latest !== this.head) this.#log.clear();
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
    this.#log.clear();
  }

  get deleted(): boolean {
    return this.deletion !== undefined;
  }

  /** The room was deleted. `actorId`: the user who deleted it, if that is known. */
  end(actorId: string | null = null): void {
    if (this.deletion) return;
    this.deletion = { actorId, at: Date.now() };
    for (const group of [...this.groups]) group.end();
    for (const holder of [...this.#allHolders()]) holder.end(new ClientError('ROOM_DELETED'));
  }

  /** Ends the holders whose viewers may not see the room, of these or, by default, of all. */
  async checkAccess(holders: Iterable<AccessHolder> = this.#allHolders()): Promise<void> {
    const limited = [...holders].filter(({ viewerScope }) => !viewerScope.seesAll);
    if (limited.length === 0) return;
    const userIds = new Set(limited.map(({ viewerScope }) => viewerScope.userId));
    const { db } = this.#parts.database;
    const { needsMembership, members } = await findMembersAmong(db, this.roomId, [...userIds]);
    if (!needsMembership) return;
    for (const holder of limited) {
      const { userId } = holder.viewerScope;
      if (userId === null || !members.has(userId)) holder.end(new ClientError('MEMBERSHIP_REVOKED'));
    }
  }

  /** The cursor of `head`, from which clients can resume. */
  get cursor(): string {
    return encodeCursor({ roomId: this.roomId, ...this.head });
  }

  /** Notifies every group; a group without new events does nothing. */
  advance(): void {
    for (const group of [...this.groups]) group.advance();
  }

  /** Reads up to `limit` events after a position, or returns the reason why the position cannot be read from. */
  async read(after: LogPosition, limit: number): Promise<readonly RoomEvent[] | ReadFailure> {
    const found = await this.#log.read(this.head, after, limit);
    if (!isReadFailure(found)) return found;
    // The position may be newer than this feed, or belong to a history that this feed has not detected yet.
    await this.syncWithLog();
    return this.#log.read(this.head, after, limit);
  }

  /** The earliest position after which all events are available. */
  async findOldest(): Promise<LogPosition> {
    return (await this.#log.findOldest(this.head)) ?? this.head;
  }

  /** Moves `head` to the end of the log; concurrent calls share one read. */
  syncWithLog(): Promise<void> {
    return this.#syncing.request();
  }

  #receive(message: BusMessage): void {
    if (this.#early) return void this.#early.push(message);
    if (message.type === 'roomDeleted') return this.end(message.actorId);
    if (message.type === 'roomMayHaveChanged') this.syncWithLog().catch(() => {});
    if (message.type !== 'roomChanged') return;
    const { event } = message;
    if (this.#isRepeated(event)) return;
    // An event that may change access is read from the log instead, because that path waits for the access check.
    if (follows(event, this.head) && !this.#syncing.running && !this.#traitsOf(event).mayEndAccess)
      return this.#process(event);
    this.#announce(event);
    // The next event or the next comparison of heads repeats a failed read.
    this.syncWithLog().catch(() => {});
  }

  /** The deliveries of the event belong to the span in which it is received. */
  #process(event: RoomEvent): void {
    const span = startReceiving(this.#parts.tracing, event);
    this.#push(span ? { ...event, trace: span.context } : event);
    span?.end();
  }

  #announce({ seq, mark, trace }: RoomEvent): void {
    if (!trace) return;
    if (this.#announced.size >= maxAnnounced) this.#announced.clear();
    this.#announced.set(seq, { mark, trace });
  }

  /** The event with the trace of its message, if there was one. */
  #withTrace(event: RoomEvent): RoomEvent {
    const announced = this.#announced.get(event.seq);
    if (!announced) return event;
    this.#announced.delete(event.seq);
    return announced.mark === event.mark ? { ...event, trace: announced.trace } : event;
  }

  /**
   * Detects a repeated or late message. A message with the number of an earlier event but another mark is neither: it
   * shows a rewind.
   */
  #isRepeated({ seq, mark }: RoomEvent): boolean {
    if (seq > this.head.seq) return false;
    const current = seq === this.head.seq ? this.head : this.#log.find(seq);
    return current === undefined || current.mark === mark;
  }

  /** Nothing else moves `head` while this runs. */
  async #readAhead(): Promise<void> {
    const head = await this.#findHead();
    if (!head) return this.end();
    if (head.seq === this.head.seq && head.mark === this.head.mark) return;
    if (head.seq <= this.head.seq) return this.#rewind(head);
    const events = await this.#log.readChunk(this.head.seq);
    const [first] = events;
    if (first?.seq === this.head.seq + 1 && !follows(first, this.head)) return this.#rewind(head);
    // All events after `head` have been trimmed. Followers find out with their next read.
    if (!first) this.#skipTo(head);
    const ends = events.filter((event) => this.#traitsOf(event).mayEndAccess);
    for (const event of events) {
      // Before it is delivered. The first check covers all events that were read, the last one holders that were added since.
      if (event === ends[0] || event === ends.at(-1)) await this.checkAccess();
      this.#process(this.#withTrace(event));
    }
    if (events.length === chunkLength) void this.#syncing.request();
  }

  #traitsOf({ type }: RoomEvent) {
    return traitsOf(type, this.#parts.extensionEvents);
  }

  *#allHolders(): Generator<AccessHolder> {
    for (const holders of this.holders) yield* holders;
  }

  /** The database has another history than the one read so far. Only positions that both histories share stay valid. */
  async #rewind(head: LogPosition): Promise<void> {
    await this.checkAccess();
    await this.#parts.onRewound(this.roomId);
    this.generation += 1;
    this.head = head;
    this.#log.clear();
    for (const group of [...this.groups]) group.restart();
  }

  #skipTo(head: LogPosition): void {
    this.#log.clear();
    this.head = head;
    this.advance();
  }

  #push(event: RoomEvent): void {
    this.#log.append(event, this.room);
    // A reference to the event itself would keep its content in memory.
    this.head = { seq: event.seq, mark: event.mark };
    if (this.#traitsOf(event).changesContent) for (const group of this.groups) group.forgetSubject(event.subjectId);
    this.advance();
  }

  async #findHead(): Promise<LogPosition | undefined> {
    const room = await findRoom(this.#parts.database.db, this.roomId);
    if (room) this.room = room;
    return room && headOf(room);
  }
}
