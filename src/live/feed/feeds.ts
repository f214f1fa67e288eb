import { LimitedQueue } from '../../common/limited-queue.ts';
import type { LogPosition } from '../../data/event-log/events.ts';
import { type Comparison, createComparison } from '../comparison.ts';
import { Feed, type FeedParts } from './feed.ts';
import { ContentBudget, chunkLength } from './room-log.ts';

/** The maximum number of feeds that read the log at the same time after a comparison of heads. */
const maxSyncing = 16;
/** The content of events is not part of a subscription's cost, so it needs a limit for the whole process. */
const maxContentBytes = 16 * 2 ** 20;

export interface FeedsParts extends Omit<FeedParts, 'contents'> {
  onError: (error: unknown) => void;
}

interface Entry {
  feed: Promise<Feed>;
  users: number;
  /** Undefined while the feed is being opened, so that a feed that takes long to open delays no other room. */
  opened?: Feed;
}

/**
 * The open feeds of this process: one per room that has subscribers. One periodic query compares the heads of all of
 * them, and so finds changes for which no message of the bus arrived.
 */
export class Feeds {
  readonly #parts: FeedsParts;
  readonly #open = new Map<string, Entry>();
  readonly #contents = new ContentBudget(maxContentBytes);
  /** Feeds that read the log after a comparison, or wait for their turn. */
  readonly #syncing = new Set<Feed>();
  readonly #syncs = new LimitedQueue({ maxRunning: maxSyncing });
  readonly #comparison: Comparison;

  constructor(parts: FeedsParts) {
    this.#parts = parts;
    this.#comparison = createComparison({
      ...parts,
      logs: 'rooms',
      isNeeded: () => this.#open.size > 0,
      list: () => this.#open.values().flatMap(({ opened }) => (opened ? [opened] : [])),
      positionOf: ({ roomId, head }) => [roomId, head],
      onCompared: (feed, moved) => this.#onCompared(feed, moved),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Returns the room's feed, which stays open until it has been released as often as it was acquired. `recentCount`: the
   * number of events that a new feed reads into memory.
   */
  async acquire(roomId: string, recentCount = chunkLength): Promise<Feed> {
    const open = async () => {
      const feed = new Feed(roomId, { ...this.#parts, contents: this.#contents });
      await feed.open(recentCount);
      return feed;
    };
    const entry: Entry = this.#open.get(roomId) ?? { feed: open(), users: 0 };
    entry.users += 1;
    this.#open.set(roomId, entry);
    this.#comparison.update();
    try {
      entry.opened = await entry.feed;
      return entry.opened;
    } catch (error) {
      this.#drop(roomId, entry);
      throw error;
    }
  }

  release(roomId: string): void {
    const entry = this.#open.get(roomId);
    if (entry && this.#drop(roomId, entry)) entry.feed.then((feed) => feed.close(), this.#parts.onError);
  }

  /** Compares the heads of all open rooms soon, because messages of the bus may have been lost. */
  compareHeadsSoon(): void {
    this.#comparison.runSoon();
  }

  #drop(roomId: string, entry: { users: number }): boolean {
    entry.users -= 1;
    if (entry.users > 0) return false;
    this.#open.delete(roomId);
    this.#comparison.update();
    return true;
  }

  #onCompared(feed: Feed, moved: Map<string, LogPosition | undefined>): void {
    const head = moved.get(feed.roomId);
    const isHere = head?.seq === feed.head.seq && head.mark === feed.head.mark;
    if (!moved.has(feed.roomId) || isHere) feed.advance();
    else if (head === undefined) feed.end();
    // The head is newer, rewound, or older than a message received since the query: the feed reads the log.
    else this.#syncWithLog(feed);
  }

  /** Several feeds read the log at a time, and the next one does not wait for all of them: a slow feed delays no other room. */
  #syncWithLog(feed: Feed): void {
    // It may still wait or read since an earlier comparison.
    if (this.#syncing.has(feed)) return;
    this.#syncing.add(feed);
    this.#syncs
      .run(() => (this.#open.get(feed.roomId)?.opened === feed ? feed.syncWithLog() : undefined))
      .catch(this.#parts.onError)
      .finally(() => this.#syncing.delete(feed));
  }
}
