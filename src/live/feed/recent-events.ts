import { follows, type RoomEvent } from '../../data/event-log/events.ts';
import type { RoomRow } from '../../data/tables.ts';
import { ContentBudget, holdContent } from './event-contents.ts';

/** The maximum number of events of a room that can be read from memory instead of the log. */
const maxEvents = 2_048;
/** The number of events that are dropped at once: dropping them one by one would move the whole array each time. */
const dropLength = 256;
/** The memory budget for the content of the events of one room. */
const maxContentBytes = 256 * 2 ** 10;

/** The latest events of one room without a gap: each event follows the previous event by number and by mark. */
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

  /** Appends an event of a room. If it does not follow the latest event, all earlier events are dropped. */
  append(event: RoomEvent, room: RoomRow | undefined): void {
    if (this.latest && !follows(event, this.latest)) this.clear();
    // The event is copied, because the copy's content is removed later.
    const recent = { ...event, room };
    this.#events.push(recent);
    if (this.#events.length > maxEvents + dropLength) this.#events.splice(0, dropLength);
    holdContent(recent, [this.#contents, this.#contentsOfAll]);
  }

  /** Inserts older events at the beginning, if they fit: other readers that catch up are likely to need them too. */
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

  /** The event with this number, if it is in memory. */
  find(seq: number): RoomEvent | undefined {
    const first = this.#events[0];
    return first && this.#events[seq - first.seq];
  }

  /** Up to `limit` events after number `after`; undefined if the first of them is no longer in memory. */
  read(after: number, limit: number): RoomEvent[] | undefined {
    const first = this.#events[0];
    if (!first || after + 1 < first.seq) return undefined;
    const start = after + 1 - first.seq;
    return this.#events.slice(start, start + limit);
  }
}

/** The event without its content: a replay reads the content again. */
export function withoutContent({ content: _, ...event }: RoomEvent): RoomEvent {
  return event;
}
