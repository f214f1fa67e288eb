import { readHeads } from '../data/events.ts';
import { Feed, type FeedParts } from './feed.ts';

const compareHeadsMs = 2_000;

export interface FeedsParts extends FeedParts {
  onError: (error: unknown) => void;
}

/** The open feeds of this process: one a room while anyone listens, and one query for all of them that finds lost wake-ups. */
export class Feeds {
  readonly #parts: FeedsParts;
  readonly #open = new Map<string, { feed: Promise<Feed>; users: number }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: FeedsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The room's feed, open until it was released as often as acquired. */
  async acquire(roomId: string): Promise<Feed> {
    const entry = this.#open.get(roomId) ?? { feed: this.#openFeed(roomId), users: 0 };
    entry.users += 1;
    this.#open.set(roomId, entry);
    this.#timer ??= setInterval(() => this.#compareHeads(), compareHeadsMs).unref();
    try {
      return await entry.feed;
    } catch (error) {
      this.#drop(roomId, entry);
      throw error;
    }
  }

  async release(roomId: string): Promise<void> {
    const entry = this.#open.get(roomId);
    if (!entry) return;
    if (this.#drop(roomId, entry)) (await entry.feed).close();
  }

  async #openFeed(roomId: string): Promise<Feed> {
    const feed = new Feed(roomId, this.#parts);
    await feed.open();
    return feed;
  }

  #drop(roomId: string, entry: { users: number }): boolean {
    entry.users -= 1;
    if (entry.users > 0) return false;
    this.#open.delete(roomId);
    if (this.#open.size === 0) {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
    return true;
  }

  async #compareHeads(): Promise<void> {
    try {
      const feeds = await Promise.all([...this.#open.values()].map(({ feed }) => feed));
      const heads = await readHeads(
        this.#parts.database.db,
        feeds.map(({ roomId }) => roomId),
      );
      for (const feed of feeds) {
        const head = heads.get(feed.roomId);
        if (head === undefined) feed.end();
        else if (head > feed.head) await feed.heal(head);
        else feed.advance();
      }
    } catch (error) {
      this.#parts.onError(error);
    }
  }
}
