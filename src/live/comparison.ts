import { chunksOf } from '../common/chunks.ts';
import { CoalescedWork } from '../common/coalesced-work.ts';
import type { Database } from '../data/database/database.ts';
import type { LogPosition } from '../data/event-log/events.ts';
import { findMovedHeads } from '../data/event-log/moved-heads.ts';
import type { Bus } from './bus/bus.ts';
import { createPace } from './pace.ts';

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

export type Comparison = ReturnType<typeof createComparison>;

/**
 * Compares periodically the positions of this process with the heads of the logs in the database, because messages of the
 * bus may have been lost.
 */
export function createComparison<Item>(parts: ComparisonParts<Item>) {
  const { database, bus, logs, isNeeded, list, positionOf, onCompared, onError } = parts;
  let timer: NodeJS.Timeout | undefined;
  const compare = async (items: readonly Item[]) => {
    const moved = await findMovedHeads(database.checks, logs, items.map(positionOf));
    for (const item of items) onCompared(item, moved);
  };
  const comparing = new CoalescedWork(async () => {
    for (const chunk of chunksOf([...list()], maxCompared)) await compare(chunk).catch(onError);
  });
  const wakeUps = createPace(oftenMs, () => comparing.request(), onError);
  const restart = () => {
    clearInterval(timer);
    timer = undefined;
    // A comparison that takes longer is not repeated at once.
    const run = () => comparing.running ?? comparing.request();
    if (isNeeded()) timer = setInterval(run, bus.isUp() ? intervalMs : oftenMs).unref();
  };
  bus.onStateChange(restart);
  return {
    /** Starts or stops when it is needed, or needed no longer. */
    update() {
      if ((timer !== undefined) !== isNeeded()) restart();
    },
    runSoon: () => wakeUps.request(),
  };
}
