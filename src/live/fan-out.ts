import { setImmediate } from 'node:timers/promises';
import { FixedWindow } from '../common/fixed-window.ts';
import type { Config } from '../config/config.ts';
import { isReadFailure, type LogPosition, type ReadFailure } from '../data/event-log/events.ts';
import { ClientError, codeOf } from '../errors.ts';
import { decodeCursor } from './cursor.ts';
import type { Feed } from './feed/feed.ts';
import { Feeds, type FeedsParts } from './feed/feeds.ts';
import { chunkLength } from './feed/room-log.ts';
import { type FirstRead, Follower, type Following } from './groups/follower.ts';
import { GroupCosts } from './groups/group-costs.ts';
import { Groups } from './groups/groups.ts';
import type { InboxRequest } from './inbox/inbox-request.ts';
import { Inboxes } from './inbox/inboxes.ts';
import { LiveCounts } from './live-counts.ts';
import { groupOf, LiveStream, type LiveStreamParts } from './live-stream.ts';
import type { Stream, SubscribeRequest } from './stream.ts';

/**
 * The maximum number of events that the free resumes of one caller replay within RATE_WINDOW_SECONDS; each resume counts as
 * one more, and that of an inbox, whose rooms take time to open, as a twentieth of all.
 */
const maxFreeResumes = 10_000;
const countOfInbox = maxFreeResumes / 20;

export interface FanOutParts extends Omit<FeedsParts, 'onRewound' | 'counts'> {
  config: Pick<Config, 'limits' | 'rate'>;
}

interface SubscriberStart {
  position: LogPosition;
  /** What was read when the position of a cursor was checked. */
  firstRead?: FirstRead;
}

interface SubscriberParts extends LiveStreamParts<SubscribeRequest> {
  feed: Feed;
  groups: Groups;
}

/** The stream of the events of one room. */
class Subscriber extends LiveStream<SubscriberParts> implements Following {
  readonly feed: Feed;
  readonly #follower: Follower;

  /** `start` is not one of the parts, which are held as long as the stream is open. */
  constructor(parts: SubscriberParts, start: SubscriberStart) {
    super(parts);
    this.feed = parts.feed;
    this.#follower = new Follower(this, parts.feed, start.position, start.firstRead);
    this.isReplaying = parts.request.after !== undefined;
  }

  get cursor(): string {
    return this.#follower.cursor;
  }

  catchUp(): void {
    this.#follower.readOn().then(
      (isDone) => isDone || this.waitUntilDrained(() => this.catchUp()),
      (error) => this.fail(error),
    );
  }

  onLive(): void {
    this.endReplay();
  }

  onDeleted(): void {
    this.end(new ClientError('ROOM_DELETED'));
  }

  onUnreadable(_: Follower, failure: ReadFailure): void {
    const code = failure === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER';
    this.end(new ClientError(code, undefined, { live: { cursor: this.feed.cursor } }));
  }

  endAsSlowConsumer(): void {
    this.onUnreadable(this.#follower, 'trimmed');
  }

  protected begin(): void {
    const { request, feed, groups } = this.parts;
    // A new stream gets all events live. A resumed stream gets the events before `feed.head` as a replay.
    const position = request.after === undefined ? this.#follower.position : feed.head;
    this.#follower.enter(groups.findOrCreate(feed, request, position));
  }

  protected override release(): void {
    this.#follower.leave();
  }
}

/** The subscriptions of this process to the events of rooms. */
export class FanOut {
  readonly #parts: FanOutParts;
  readonly feeds: Feeds;
  readonly groups: Groups;
  readonly #subscribers = new Set<Subscriber>();
  readonly #inboxes: Inboxes;
  /** Counts the subscriptions that resume and the events that they replay, by caller: within the limit they are free. */
  readonly #freeResumes: FixedWindow;
  readonly costs: GroupCosts;
  readonly counts = new LiveCounts();

  constructor(parts: FanOutParts) {
    this.#parts = parts;
    const { windowSeconds } = parts.config.rate;
    this.#freeResumes = new FixedWindow({ limit: maxFreeResumes, windowSeconds });
    this.costs = new GroupCosts(parts.config);
    const { costs, counts } = this;
    this.groups = new Groups({ counts, tracing: parts.tracing, onError: parts.onError });
    this.feeds = new Feeds({ ...parts, counts, onRewound: (roomId) => this.#inboxes.checkHistory(roomId) });
    this.#inboxes = new Inboxes({ ...parts, feeds: this.feeds, groups: this.groups, costs, counts });
  }

  /** The numbers of open feeds, groups and subscribers. */
  get sizes(): { feeds: number; groups: number; subscribers: number } {
    const subscribers = this.#subscribers.size + this.#inboxes.size;
    return { feeds: this.feeds.size, groups: this.groups.size, subscribers };
  }

  /**
   * Creates a stream that misses no later event. It sends nothing before it is started. `charge` is called if the
   * subscription opens a new group, because each event of the room then costs one more execution, or if it may not be
   * resumed without a charge.
   * @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED; any error of `charge`.
   */
  async subscribe(request: SubscribeRequest, charge?: () => unknown): Promise<Stream> {
    const group = groupOf(request.roomId, request);
    const isNew = charge !== undefined && (await this.costs.chargeIfNew(group, charge));
    if (charge && !isNew && !this.#isFree(request, 1 + missedBy(request))) await charge();
    try {
      return await this.#countResume(request, this.#subscribe(request));
    } catch (error) {
      if (isNew) this.costs.dropUnopened(group);
      throw error;
    }
  }

  /** Like `subscribe`, for all rooms of a user. `charge` is called unless the inbox may be resumed without a charge. */
  async openInbox(request: InboxRequest, charge?: () => unknown): Promise<Stream> {
    const { selection } = request;
    // Only `live.seen` has the cursors of an inbox.
    const mayBeFree = selection.transport === 'websocket';
    if (charge && !(mayBeFree && this.#isFree(selection, countOfInbox))) await charge();
    return this.#countResume(request, this.#inboxes.open(request));
  }

  /** Counts a resume if it fits into the limit of its caller. */
  #isFree({ address, chargedId }: Pick<SubscribeRequest, 'address' | 'chargedId'>, count: number): boolean {
    const caller = chargedId === null ? `address:${address}` : `user:${chargedId}`;
    if (this.#freeResumes.charge(caller, 0).remaining < count) return false;
    this.#freeResumes.charge(caller, count);
    return true;
  }

  async #countResume(request: { after: unknown }, opening: Promise<Stream>): Promise<Stream> {
    try {
      const stream = await opening;
      if (request.after !== undefined) this.counts.countResume('OK');
      return stream;
    } catch (error) {
      if (request.after !== undefined) this.counts.countResume(codeOf(error));
      throw error;
    }
  }

  async #subscribe(request: SubscribeRequest): Promise<Subscriber> {
    const feed = await this.feeds.acquire(request.roomId);
    let release = (_: unknown): void => this.feeds.release(request.roomId);
    try {
      const start = await this.#findStart(feed, request);
      const { costs, counts } = this;
      const parts = { request, source: feed.roomId, costs, counts, groups: this.groups, onError: this.#parts.onError };
      const onEnd = () => this.#remove(subscriber);
      const subscriber: Subscriber = new Subscriber({ ...parts, feed, onEnd }, start);
      for (const all of [this.#subscribers, feed.subscribers]) all.add(subscriber);
      release = (error) => subscriber.stop(codeOf(error));
      // Later changes of access are checked for all subscribers of the feed. This check covers the changes before now.
      await feed.checkAccess([subscriber]);
      return subscriber;
    } catch (error) {
      release(error);
      throw error;
    }
  }

  /** Compares all open feeds with the log soon, because messages of the bus may have been lost. */
  compareHeadsSoon(): void {
    this.feeds.compareHeadsSoon();
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
    this.feeds.release(feed.roomId);
  }

  async #findStart(feed: Feed, { after, head }: SubscribeRequest): Promise<SubscriberStart> {
    if (feed.deleted) throw new ClientError('ROOM_DELETED');
    if (after === undefined) return { position: head };
    const position = decodeCursor(after);
    if (position?.roomId !== feed.roomId) throw new ClientError('CURSOR_INVALID');
    const { generation } = feed;
    const events = await feed.read(position, chunkLength);
    if (!isReadFailure(events)) return { position, firstRead: { generation, events } };
    if (feed.deleted) throw new ClientError('ROOM_DELETED');
    throw new ClientError('CURSOR_EXPIRED', undefined, { live: { cursor: feed.cursor } });
  }
}

/** The number of events in the room since its cursor. */
function missedBy({ after = '', head }: SubscribeRequest): number {
  return Math.max(0, head.seq - (decodeCursor(after)?.seq ?? head.seq));
}
