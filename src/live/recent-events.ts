import type { LogPosition, RoomEvent } from '../data/events.ts';
import { ContentBudget, holdContent } from './event-contents.ts';

/** How many events of a room are held without a read of the log. */
const maxEvents = 2_048;
/** How many are dropped at once: dropping one by one would move the whole array each time. */
const dropLength = 256;
/** What the events of one room keep of their content. */
const maxContentBytes = 256 * 2 ** 10;

/** The latest events of one room without a gap: each follows the one before it by number and by mark. */
export class RecentEvents {
  readonly #events: RoomEvent[] = [];
  readonly #contents = new ContentBudget(maxContentBytes);
  readonly #contentsOfAll: ContentBudget;

  constructor(contentsOfAll: ContentBudget) {
    this.#contentsOfAll = contentsOfAll;
  }

  get latest(): RoomEvent | undefined {
    return this.#events.at(-1);
  }

  /** Appends an event; what is held is dropped where the event does not follow it. */
  append(event: RoomEvent): void {
    if (this.latest && !follows(event, this.latest)) this.clear();
    // A copy, because its content is removed later.
    const recent = { ...event };
    this.#events.push(recent);
    if (this.#events.length > maxEvents + dropLength) this.#events.splice(0, dropLength);
    holdContent(recent, [this.#contents, this.#contentsOfAll]);
  }

  /** Puts older events before those that are held, where they fit: what one reader was behind, others will be too. */
  prepend(events: readonly RoomEvent[]): void {
    const first = this.#events[0];
    const older = first ? events.filter(({ seq }) => seq < first.seq) : [];
    const last = older.at(-1);
    const isTooLong = older.length + this.#events.length > maxEvents;
    if (first && last && follows(first, last) && !isTooLong) this.#events.unshift(...older);
  }

  clear(): void {
    this.#events.length = 0;
    this.#contents.clear();
  }

  /** The event of this number, if it is held. */
  find(seq: number): RoomEvent | undefined {
    const first = this.#events[0];
    return first && this.#events[seq - first.seq];
  }

  /** Up to `limit` events after number `after`; undefined where the first of them is no longer held. */
  read(after: number, limit: number): RoomEvent[] | undefined {
    const first = this.#events[0];
    if (!first || after + 1 < first.seq) return undefined;
    const start = after + 1 - first.seq;
    return this.#events.slice(start, start + limit);
  }
}

/** Whether an event is the next one after a position, in the same history. */
export function follows({ seq, previousMark }: RoomEvent, position: LogPosition): boolean {
  return seq === position.seq + 1 && previousMark === position.mark;
}

/** The event as a replay sees it: its content is read again. */
export function withoutContent({ content: _, ...event }: RoomEvent): RoomEvent {
  return event;
}
