import { chunksOf } from '../common/chunks.ts';
import { CoalescedWork } from '../common/coalesced-work.ts';
import type { Database } from '../data/database/database.ts';
import type { LogPosition } from '../data/event-log/events.ts';
import { findMovedHeads } from '../data/event-log/moved-heads.ts';
import type { Bus } from './bus/bus.ts';
import { createPace, type Pace } from './pace.ts';

/** Changes by another process must take effect within two seconds. */
const intervalMs = 1_500;
/** The interval while the bus is down. It is also the minimum time between two comparisons that wake-ups cause. */
const oftenMs = 250;
/** The maximum number of logs in one query: with SQLite it blocks the event loop. */
const maxCompared = 2_000;

export interface ComparisonParts<Item> {
  database: Database;
  bus: Pick<Bus, 'isUp' | 'onStateChange'>;
  /** The logs of rooms or of users. */
  logs: 'rooms' | 'users';
  isNeeded: () => boolean;
  /** What follows the logs now. */
  list: () => Iterable<Item>;
  positionOf: (item: Item) => readonly [id: string, LogPosition];
  /** Receives each item, and the heads of the logs in which the items were not at the head, by id. */
  onCompared: (item: Item, moved: Map<string, LogPosition | undefined>) => void;
  onError: (error: unknown) => void;
}

/**
 * Compares periodically the positions of this process with the heads of the logs in the database, because messages of the
 * bus may have been lost.
 */
export class Comparison<Item> {
  readonly #parts: ComparisonParts<Item>;
  #timer: NodeJS.Timeout | undefined;
  readonly #comparing = new CoalescedWork(() => this.#compareAll());
  readonly #wakeUps: Pace;

  constructor(parts: ComparisonParts<Item>) {
    this.#parts = parts;
    this.#wakeUps = createPace(oftenMs, () => this.#comparing.request(), parts.onError);
    parts.bus.onStateChange(() => this.#restart());
  }

  /** Starts or stops when it is needed, or needed no longer. */
  update(): void {
    if ((this.#timer !== undefined) !== this.#parts.isNeeded()) this.#restart();
  }

  runSoon(): void {
    this.#wakeUps.request();
  }

  #restart(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    const { bus, isNeeded } = this.#parts;
    // A comparison that takes longer is not repeated at once.
    const compare = () => this.#comparing.running ?? this.#comparing.request();
    if (isNeeded()) this.#timer = setInterval(compare, bus.isUp() ? intervalMs : oftenMs).unref();
  }

  async #compareAll(): Promise<void> {
    const { list, onError } = this.#parts;
    for (const chunk of chunksOf([...list()], maxCompared)) await this.#compare(chunk).catch(onError);
  }

  async #compare(items: readonly Item[]): Promise<void> {
    const { database, logs, positionOf, onCompared } = this.#parts;
    const moved = await findMovedHeads(database.checks, logs, items.map(positionOf));
    for (const item of items) onCompared(item, moved);
  }
}
