import type { Database } from '../../data/database/database.ts';
import {
  findFirstPosition,
  follows,
  isReadFailure,
  type LogPosition,
  type ReadFailure,
  type RoomEvent,
  readEvents,
  withoutGap,
} from '../../data/event-log/events.ts';
import type { RoomRow } from '../../data/tables.ts';

/** The age and the number of events of a room that can be replayed. */
export interface Retention {
  hours: number;
  count: number;
}

export interface RoomLogParts {
  database: Database;
  retention: Retention;
  counts: { logReads: number };
  onLogRead: (roomId: string) => void;
  /** The memory budget for the content of recent events, shared by all rooms. */
  contents: ContentBudget;
}

/** The number of events in one read of the log; a feed without traffic holds no more in memory. */
export const chunkLength = 256;
const hourMs = 3_600_000;
/** The maximum number of events of a room that can be read from memory. */
const maxRecent = 2_048;
/** The number of events that are dropped at once: dropping them one by one would move the whole array each time. */
const dropLength = 256;
/** The memory budget for the content of the events of one room. */
const maxContentBytes = 256 * 2 ** 10;

/** The estimated size of the rows of a post and its author, without their texts. */
const rowBytes = 1_000;

interface HeldContent {
  readonly event: RoomEvent;
  readonly bytes: number;
  /** The budget of the room, and the budget of all rooms. */
  readonly budgets: readonly ContentBudget[];
}

/**
 * A memory budget for the content of recent events. When it is exceeded, the oldest contents are removed from their
 * events, and later readers get the post as it is now. The latest content stays, whatever its size.
 */
export class ContentBudget {
  /** In the order in which the events were written. */
  readonly #held = new Set<HeldContent>();
  readonly #maxBytes: number;
  #used = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(held: HeldContent): void {
    this.#held.add(held);
    this.#used += held.bytes;
    for (const oldest of this.#held) {
      if (this.#used <= this.#maxBytes || oldest === held) return;
      remove(oldest);
    }
  }

  delete(held: HeldContent): void {
    if (this.#held.delete(held)) this.#used -= held.bytes;
  }

  clear(): void {
    for (const held of this.#held) remove(held);
  }
}

/**
 * Reads the log of one room. The latest events are in memory, without a gap: each follows the previous one by number and by
 * mark.
 */
export class RoomLog {
  readonly #recent: RoomEvent[] = [];
  readonly #contents = new ContentBudget(maxContentBytes);
  readonly #roomId: string;
  readonly #parts: RoomLogParts;
  /** The chunks that are being read, by the number before their first event. */
  readonly #chunks = new Map<number, Promise<RoomEvent[]>>();

  constructor(roomId: string, parts: RoomLogParts) {
    this.#roomId = roomId;
    this.#parts = parts;
  }

  /** The latest event, if it is in memory. */
  get latest(): RoomEvent | undefined {
    return this.#recent.at(-1);
  }

  /** Adds a new event to those in memory. If it does not follow the latest one, all earlier events are dropped. */
  append(event: RoomEvent, room: RoomRow | undefined): void {
    if (this.latest && !follows(event, this.latest)) this.clear();
    // The event is copied, because the copy's content is removed later.
    const recent = { ...event, room };
    this.#recent.push(recent);
    if (this.#recent.length > maxRecent + dropLength) this.#recent.splice(0, dropLength);
    holdContent(recent, [this.#contents, this.#parts.contents]);
  }

  /** The event with this number, if it is in memory. */
  find(seq: number): RoomEvent | undefined {
    const first = this.#recent[0];
    return first && this.#recent[seq - first.seq];
  }

  /** Reads the next events from the database. */
  readChunk(after: number): Promise<RoomEvent[]> {
    this.#parts.counts.logReads += 1;
    this.#parts.onLogRead(this.#roomId);
    return readEvents(this.#parts.database.db, this.#roomId, after, chunkLength);
  }

  /**
   * Reads up to `limit` events after a position of a log that ends at `head`. The read decides by number and age which
   * events are past the retention; it does not depend on the progress of trimming.
   */
  async read(head: LogPosition, after: LogPosition, limit: number): Promise<readonly RoomEvent[] | ReadFailure> {
    const { retention } = this.#parts;
    if (after.seq > head.seq) return 'rewound';
    if (after.seq === head.seq) return after.mark === head.mark ? [] : 'rewound';
    if (after.seq < head.seq - retention.count) return 'trimmed';
    const start = after.seq + 1 - (this.#recent[0]?.seq ?? Number.POSITIVE_INFINITY);
    const read = start < 0 ? await this.#readShared(after.seq) : this.#recent.slice(start, start + limit);
    const events = withoutGap(read.slice(0, limit), after);
    const isOld = !isReadFailure(events) && (events[0]?.at ?? 0) < Date.now() - retention.hours * hourMs;
    return isOld ? 'trimmed' : events;
  }

  /** The earliest position after which all events up to `head` are available; undefined if there are none. */
  findOldest(head: LogPosition): Promise<LogPosition | undefined> {
    const { database, retention } = this.#parts;
    const after = head.seq - retention.count;
    const since = Date.now() - retention.hours * hourMs;
    return findFirstPosition(database.db, { roomId: this.#roomId, after, since });
  }

  /** Forgets all events. */
  clear(): void {
    this.#recent.length = 0;
    this.#contents.clear();
    this.#chunks.clear();
  }

  /**
   * Reads of old events are shared: chunks start at fixed numbers, and concurrent readers of a chunk wait for one read.
   */
  async #readShared(after: number): Promise<RoomEvent[]> {
    const start = after - (after % chunkLength);
    const reading = this.#chunks.get(start) ?? this.readChunk(start);
    this.#chunks.set(start, reading);
    try {
      const events = await reading;
      this.#prepend(events);
      return events.filter(({ seq }) => seq > after);
    } finally {
      this.#chunks.delete(start);
    }
  }

  /** Adds older events to those in memory, if they fit: other readers that catch up are likely to need them too. */
  #prepend(events: readonly RoomEvent[]): void {
    const first = this.#recent[0];
    const older = first ? events.filter(({ seq }) => seq < first.seq) : [];
    const last = older.at(-1);
    const isTooLong = older.length + this.#recent.length > maxRecent;
    if (first && last && follows(first, last) && !isTooLong) this.#recent.unshift(...older);
  }
}

/** Keeps the content of an event as it was written, until one of the budgets is exceeded. */
function holdContent(event: RoomEvent, budgets: readonly ContentBudget[]): void {
  if (!event.content) return;
  const { post, author } = event.content;
  const bytes = rowBytes + 2 * (post.title.length + (post.body?.length ?? 0) + author.name.length);
  const held = { event, bytes, budgets };
  for (const budget of budgets) budget.add(held);
}

/**
 * Removes the content from the event itself, so that a group that has not executed the event yet does not retain it.
 */
function remove(held: HeldContent): void {
  held.event.content = undefined;
  for (const budget of held.budgets) budget.delete(held);
}
