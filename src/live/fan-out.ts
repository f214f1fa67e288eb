import { setImmediate } from 'node:timers/promises';
import type { LogPosition } from '../data/events.ts';
import { ClientError } from '../errors.ts';
import type { FixedWindow } from '../fixed-window.ts';
import type { AccessHolder } from './access.ts';
import { decodeCursor } from './cursor.ts';
import type { Feed } from './feed/feed.ts';
import { Feeds, type FeedsParts } from './feed/feeds.ts';
import { isReadFailure } from './feed/room-log.ts';
import type { GroupCosts } from './groups/group-costs.ts';
import { Groups } from './groups/groups.ts';
import type { InboxRequest } from './inbox/inbox-request.ts';
import { Inboxes } from './inbox/inboxes.ts';
import { LiveCounts } from './live-counts.ts';
import { groupOf } from './live-stream.ts';
import type { Stream } from './stream.ts';
import type { SubscribeRequest } from './subscribe-request.ts';
import { Subscriber } from './subscriber.ts';

export interface FanOutParts extends Omit<FeedsParts, 'onRewound'> {
  groupCosts: GroupCosts;
  /** Counts the inboxes that resume, by user: those within the limit are not charged. */
  freeInboxes: FixedWindow;
}

/** The subscriptions of this process to the events of rooms. */
export class FanOut {
  readonly #parts: FanOutParts;
  readonly #feeds: Feeds;
  readonly #groups: Groups;
  readonly #subscribers = new Set<Subscriber>();
  readonly #inboxes: Inboxes;
  readonly counts = new LiveCounts();

  constructor(parts: FanOutParts) {
    this.#parts = parts;
    this.#groups = new Groups({ counts: this.counts, tracing: parts.tracing, onError: parts.onError });
    this.#feeds = new Feeds({ ...parts, onRewound: (roomId) => this.#inboxes.checkAccess(roomId) });
    this.#inboxes = new Inboxes({ ...parts, feeds: this.#feeds, groups: this.#groups, counts: this.counts });
  }

  /** The numbers of open feeds, groups and subscribers. */
  get sizes(): { feeds: number; groups: number; subscribers: number } {
    const subscribers = this.#subscribers.size + this.#inboxes.size;
    return { feeds: this.#feeds.size, groups: this.#groups.size, subscribers };
  }

  /** The numbers of subscriptions by room. */
  followers(): Iterable<[roomId: string, followers: number]> {
    return this.#groups.followers();
  }

  /**
   * Creates a stream that misses no later event. It sends nothing before it is started. `charge` is called if the
   * subscription opens a new group, because each event of the room then costs one more execution.
   * @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED; any error of `charge`.
   */
  async subscribe(request: SubscribeRequest, charge?: () => unknown): Promise<Stream> {
    const { groupCosts } = this.#parts;
    const group = groupOf(request.roomId, request);
    const isNew = charge !== undefined && (await groupCosts.chargeIfNew(group, charge));
    try {
      return await this.#countResume(request, this.#subscribe(request));
    } catch (error) {
      if (isNew) groupCosts.dropUnopened(group);
      throw error;
    }
  }

  /** Like `subscribe`, for all rooms of a user. `charge` is called unless the inbox may be resumed without a charge. */
  async openInbox(request: InboxRequest, charge?: () => unknown): Promise<Stream> {
    const { transport, chargedId } = request.selection;
    // Only `live.seen` has the cursors of an inbox. To open its rooms takes time, so that few inboxes are free.
    const mayBeFree = transport === 'websocket' && chargedId !== null;
    if (charge && !(mayBeFree && !this.#parts.freeInboxes.charge(chargedId).isOver)) await charge();
    return this.#countResume(request, this.#inboxes.open(request));
  }

  async #countResume(request: { after: unknown }, opening: Promise<Stream>): Promise<Stream> {
    try {
      const stream = await opening;
      if (request.after !== undefined) this.counts.countResume('OK');
      return stream;
    } catch (error) {
      const code = error instanceof ClientError ? error.code : 'INTERNAL_SERVER_ERROR';
      if (request.after !== undefined) this.counts.countResume(code);
      throw error;
    }
  }

  async #subscribe(request: SubscribeRequest): Promise<Subscriber> {
    const feed = await this.#feeds.acquire(request.roomId);
    let release = () => this.#feeds.release(request.roomId);
    try {
      const position = await this.#findStart(feed, request);
      const { groupCosts: costs, onError } = this.#parts;
      const onEnd = () => this.#remove(subscriber);
      const parts = { request, source: feed.roomId, costs, counts: this.counts, onEnd, onError };
      const subscriber: Subscriber = new Subscriber({ ...parts, feed, position, groups: this.#groups });
      for (const all of [this.#subscribers, feed.subscribers]) all.add(subscriber);
      release = async () => subscriber.stop('client');
      // Later changes of access are checked for all subscribers of the feed. This check covers the changes before now.
      await feed.checkAccess([subscriber]);
      return subscriber;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Keeps the room's feed open, and checks the access of the holders, until `unwatchAccess`. */
  async watchAccess(roomId: string, holders: Iterable<AccessHolder>): Promise<Feed> {
    const feed = await this.#feeds.acquire(roomId);
    feed.holders.add(holders);
    return feed;
  }

  unwatchAccess(feed: Feed, holders: Iterable<AccessHolder>): void {
    feed.holders.delete(holders);
    this.#feeds.release(feed.roomId).catch(this.#parts.onError);
  }

  /** Clears the replay caches of all groups, so that erased content is not replayed. */
  clearReplayed(): void {
    this.#groups.clearReplayed();
  }

  /** Compares all open feeds with the log soon, because messages of the bus may have been lost. */
  compareHeadsSoon(): void {
    this.#feeds.compareHeadsSoon();
    this.#inboxes.compareSoon();
  }

  /** Cuts every connection; clients resume their streams on another server. */
  async close(): Promise<void> {
    for (const stream of [...this.#subscribers, ...this.#inboxes]) stream.disconnect();
    await setImmediate();
  }

  #remove(subscriber: Subscriber): void {
    const { feed } = subscriber;
    for (const all of [this.#subscribers, feed.subscribers]) all.delete(subscriber);
    this.#feeds.release(feed.roomId).catch(this.#parts.onError);
  }

  async #findStart(feed: Feed, { after, head }: SubscribeRequest): Promise<LogPosition> {
    if (feed.deleted) throw new ClientError('ROOM_DELETED');
    if (after === undefined) return head;
    const position = decodeCursor(after);
    if (position?.roomId !== feed.roomId) throw new ClientError('CURSOR_INVALID');
    if (!isReadFailure(await feed.read(position, 1))) return position;
    // It may have been deleted during the read.
    if (feed.deleted) throw new ClientError('ROOM_DELETED');
    throw new ClientError('CURSOR_EXPIRED', undefined, { live: { cursor: feed.cursor } });
  }
}
