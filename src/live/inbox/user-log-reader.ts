import { CoalescedWork } from '../../common/coalesced-work.ts';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { Database } from '../../data/database/database.ts';
import { isReadFailure } from '../../data/event-log/events.ts';
import { readUserEvents } from '../../data/event-log/user-events.ts';
import type { UserEventRow } from '../../data/tables.ts';
import type { InboxPositions } from './positions.ts';
import type { InboxStart } from './start.ts';

export interface UserLogReaderParts {
  userId: string;
  positions: InboxPositions;
  start: Pick<InboxStart, 'head' | 'filteredUpTo' | 'missed'>;
  database: Database;
  isOpen: () => boolean;
  /** Sends what has happened. Returns false if the database was found rewound: the event may be lost. */
  apply: (event: UserEventRow) => Promise<boolean>;
  /** All events were applied. */
  onLive: () => void;
  onUnreadable: () => Promise<void>;
  /** The rooms with which the inbox was opened belong to a history that was lost. */
  onRewound: () => void;
  onError: (error: unknown) => void;
}

/** The number of events in one read. */
const chunkLength = 64;

/** Reads the log of the user of an inbox, and applies its events one after the other. */
export class UserLogReader {
  readonly #parts: UserLogReaderParts;
  readonly #reading = new CoalescedWork(() => this.#readOn().catch(this.#parts.onError));

  constructor(parts: UserLogReaderParts) {
    this.#parts = parts;
  }

  /** Whether an event is being applied. */
  get isReading(): boolean {
    return this.#reading.running !== undefined;
  }

  /** There may be new events. */
  wake(): void {
    if (this.#parts.isOpen()) void this.#reading.request();
  }

  /** A failure loses nothing: the position does not change, and the next comparison tries again. */
  async #readOn(): Promise<void> {
    const { isOpen, positions, onLive } = this.#parts;
    while (isOpen()) {
      const events = await this.readChunk(chunkLength);
      if (events.length === 0) return onLive();
      for (const event of events) {
        await yieldWhenDue();
        const isDone = await this.#apply(event);
        if (!isOpen()) return;
        if (!isDone) break;
        positions.user = { seq: event.seq, mark: event.mark };
      }
    }
  }

  /** Reads the next events. The stream ends if they cannot be read, or belong to another history than its rooms. */
  async readChunk(length: number): Promise<readonly UserEventRow[]> {
    const { database, userId, positions, onUnreadable, onRewound } = this.#parts;
    const events = await readUserEvents(database.db, userId, positions.user, length);
    if (isReadFailure(events)) await onUnreadable();
    else if (this.#containsHead(events)) return events;
    else onRewound();
    return [];
  }

  /** Whether the log still contains what it ended with when the inbox was opened, as far as these next events show. */
  #containsHead(events: readonly UserEventRow[]): boolean {
    const { head } = this.#parts.start;
    if (events.length === 0) return this.#parts.positions.user.seq >= head.seq;
    return events.every(({ seq, mark }) => seq !== head.seq || mark === head.mark);
  }

  async #apply(event: UserEventRow): Promise<boolean> {
    const { start, apply } = this.#parts;
    const isLeftOut = event.seq <= start.filteredUpTo && !start.missed.has(event.seq);
    return isLeftOut || apply(event);
  }
}
