import type { Database } from '../../data/database/database.ts';
import {
  findFirstPosition,
  isReadFailure,
  type LogPosition,
  type ReadFailure,
  type RoomEvent,
  readEvents,
  withoutGap,
} from '../../data/event-log/events.ts';
import type { ContentBudget } from './event-contents.ts';
import { RecentEvents } from './recent-events.ts';

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

/** Reads the log of one room. The latest events are in memory. */
export class RoomLog {
  readonly recent: RecentEvents;
  readonly #roomId: string;
  readonly #parts: RoomLogParts;
  /** The chunks that are being read, by the number before their first event. */
  readonly #chunks = new Map<number, Promise<RoomEvent[]>>();

  constructor(roomId: string, parts: RoomLogParts) {
    this.#roomId = roomId;
    this.#parts = parts;
    this.recent = new RecentEvents(parts.contents);
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
    const read = this.recent.read(after.seq, limit) ?? (await this.#readShared(after.seq));
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

  /** Forgets all events, because the database has another history. */
  clear(): void {
    this.recent.clear();
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
      this.recent.prepend(events);
      return events.filter(({ seq }) => seq > after);
    } finally {
      this.#chunks.delete(start);
    }
  }
}
