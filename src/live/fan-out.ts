import { setImmediate } from 'node:timers/promises';
import type { LogPosition } from '../data/events.ts';
import { ClientError, type ErrorCode } from '../errors.ts';
import { decodeCursor } from './cursor.ts';
import { type Feed, type FeedFollower, isReadFailure } from './feed/feed.ts';
import { Feeds, type FeedsParts } from './feed/feeds.ts';
import { Group, ReplayBudget } from './group.ts';
import type { GroupCostRequest, GroupCosts } from './group-costs.ts';
import { LiveCounts, type StreamEnd, type StreamTransport } from './live-counts.ts';
import { SerialQueue } from './serial-queue.ts';
import { type ExecuteEvent, groupKeyOf, type SubscribeRequest } from './subscribe-request.ts';
import { Subscriber, type SubscriberHub } from './subscriber.ts';

export interface FanOutParts extends FeedsParts {
  /** Finds the users among `userIds` who may see the room; undefined if every user may see it. */
  findReaders: (roomId: string, userIds: readonly string[]) => Promise<Set<string> | undefined>;
  groupCosts: GroupCosts;
}

/** Each queue executes the groups of a room one after the other. With two lanes, live events do not wait for replays. */
interface Lanes {
  live: SerialQueue;
  replay: SerialQueue;
}

/** Groups the subscribers of room events, so that each event is executed and serialised once per group. */
export class FanOut implements SubscriberHub {
  readonly #parts: FanOutParts;
  readonly #feeds: Feeds;
  readonly #groups = new Map<Feed, Map<string, Group<Subscriber>>>();
  readonly #subscribers = new Map<Feed, Set<Subscriber>>();
  readonly #costs: GroupCosts;
  readonly #lanes = new WeakMap<Feed, Lanes>();
  readonly #replayBudget = new ReplayBudget();
  readonly live = new LiveCounts();

  constructor(parts: FanOutParts) {
    this.#parts = parts;
    this.#costs = parts.groupCosts;
    this.#feeds = new Feeds(parts, (feed) => this.#checkAccess(feed));
  }

  /** The numbers of open feeds, groups and subscribers, and the number of executions since the start. */
  get counts(): { feeds: number; groups: number; subscribers: number; executions: number } {
    const groups = this.#groups.values().reduce((count, { size }) => count + size, 0);
    const subscribers = this.#subscribers.values().reduce((count, { size }) => count + size, 0);
    return { feeds: this.#feeds.size, groups, subscribers, executions: this.live.executions };
  }

  /** The numbers of subscriptions by room. */
  *followers(): Iterable<[roomId: string, followers: number]> {
    for (const [{ roomId }, { size }] of this.#subscribers) yield [roomId, size];
  }

  /** The number of open subscriptions over a transport. */
  countOpen(transport: StreamTransport): number {
    const subscribers = this.#subscribers.values().flatMap((ofFeed) => ofFeed.values());
    return subscribers.reduce((count, { request }) => count + Number(request.transport === transport), 0);
  }

  /**
   * Creates a stream that misses no later event. It sends nothing before it is started. `charge` is called if the
   * subscription opens a new group, because each event of the room then costs one more execution.
   * @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED; any error of `charge`.
   */
  async subscribe(request: SubscribeRequest, charge?: () => unknown): Promise<Subscriber> {
    const { group } = costOf(request);
    const isNew = charge !== undefined && (await this.#costs.chargeIfNew(group, charge));
    try {
      const subscriber = await this.#subscribe(request);
      if (request.after !== undefined) this.live.countResume('OK');
      return subscriber;
    } catch (error) {
      if (request.after !== undefined) this.live.countResume(codeOf(error));
      if (isNew) this.#costs.dropUnopened(group);
      throw error;
    }
  }

  async #subscribe(request: SubscribeRequest): Promise<Subscriber> {
    const feed = await this.#feeds.acquire(request.roomId);
    let release = () => this.#feeds.release(request.roomId);
    try {
      const position = await this.#findStart(feed, request);
      const subscriber = new Subscriber(this, feed, request, position);
      subscriber.reservation = this.#costs.reserve(costOf(request));
      const subscribers = this.#subscribers.get(feed) ?? new Set();
      this.#subscribers.set(feed, subscribers.add(subscriber));
      this.live.started[request.transport] += 1;
      release = async () => subscriber.stop('client');
      // Later changes of access are checked for all subscribers of the feed. This check covers the changes before now.
      await this.#checkAccess(feed, [subscriber]);
      return subscriber;
    } catch (error) {
      await release();
      throw error;
    }
  }

  /** Keeps the room's feed open for a follower, until `unfollow`. */
  async follow(roomId: string, follower: FeedFollower): Promise<Feed> {
    const feed = await this.#feeds.acquire(roomId);
    feed.followers.add(follower);
    return feed;
  }

  unfollow(feed: Feed, follower: FeedFollower): void {
    feed.followers.delete(follower);
    this.#feeds.release(feed.roomId).catch(this.#parts.onError);
  }

  /** Clears the replay caches of all groups, so that erased content is not replayed. */
  clearReplayed(): void {
    for (const groups of this.#groups.values()) for (const group of groups.values()) group.clearReplayed();
  }

  /** Compares all open feeds with the log soon, because messages of the bus may have been lost. */
  compareHeadsSoon(): void {
    this.#feeds.compareHeadsSoon();
  }

  /** Cuts every connection; clients resume their streams on another server. */
  async close(): Promise<void> {
    const subscribers = this.#subscribers.values().flatMap((ofFeed) => ofFeed.values());
    for (const subscriber of [...subscribers]) subscriber.disconnect();
    await setImmediate();
  }

  remove(subscriber: Subscriber, reason: StreamEnd | ErrorCode): void {
    this.#release(subscriber);
    subscriber.request.onEnd();
    const subscribers = this.#subscribers.get(subscriber.feed);
    if (subscribers?.delete(subscriber)) this.live.countEnd(subscriber.request.transport, reason);
    if (subscribers?.size === 0) this.#subscribers.delete(subscriber.feed);
    this.#feeds.release(subscriber.feed.roomId).catch(this.#parts.onError);
  }

  onError(error: unknown): void {
    this.#parts.onError(error);
  }

  findGroup({ feed, request, position }: Subscriber): Group<Subscriber> {
    // A new stream gets all events live. A resumed stream gets the events before `feed.head` as a replay.
    return this.#findGroupAt(feed, request, request.after === undefined ? position : feed.head);
  }

  #findGroupAt(feed: Feed, request: SubscribeRequest, position: LogPosition): Group<Subscriber> {
    const { isPersonal } = request.traits;
    const key = groupKeyOf(request);
    const groups = this.#groups.get(feed) ?? new Map<string, Group<Subscriber>>();
    const existing = groups.get(key);
    if (existing) return existing;
    const execute = isPersonal ? request.executePersonal : request.executeShared;
    const { live, replay } = this.#lanesOf(feed);
    const group: Group<Subscriber> = new Group(position, {
      feed,
      execute: this.#executeIn(live, execute),
      replay: this.#executeIn(replay, execute),
      replayBudget: this.#replayBudget,
      counts: this.live,
      tracing: this.#parts.tracing,
      split: () => this.#split(group),
      onEmpty: () => {
        groups.delete(key);
        if (groups.size === 0) this.#groups.delete(feed);
      },
      onError: this.#parts.onError,
    });
    this.#groups.set(feed, groups.set(key, group));
    return group;
  }

  #lanesOf(feed: Feed): Lanes {
    const lanes = this.#lanes.get(feed) ?? { live: new SerialQueue(), replay: new SerialQueue() };
    this.#lanes.set(feed, lanes);
    return lanes;
  }

  #executeIn(queue: SerialQueue, execute: ExecuteEvent): ExecuteEvent {
    return (event, span) =>
      queue.run(() => {
        this.live.executions += 1;
        return execute(event, span);
      });
  }

  /** The selection is personal: each viewer gets a separate group, which starts at the same event. */
  #split(group: Group<Subscriber>): void {
    // `members` is iterated without a copy: a member that leaves during the loop must not reserve a share, because nothing
    // would release it.
    for (const member of group.members) {
      member.request.traits.isPersonal = true;
      if (this.#moveReservation(member)) member.enter(this.#findGroupAt(group.feed, member.request, group.position));
    }
  }

  #release(subscriber: Subscriber): void {
    if (subscriber.reservation) this.#costs.release(subscriber.reservation);
    subscriber.reservation = undefined;
  }

  /** Replaces the reservation in the shared group by one in the viewer's group. Ends the stream if it exceeds the limit. */
  #moveReservation(member: Subscriber): boolean {
    try {
      this.#release(member);
      member.reservation = this.#costs.reserve(costOf(member.request));
      return true;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      member.end(error);
      return false;
    }
  }

  async #findStart(feed: Feed, { after, head }: SubscribeRequest): Promise<LogPosition> {
    if (feed.deleted) throw new ClientError('ROOM_DELETED');
    if (after === undefined) return head;
    const position = decodeCursor(after);
    if (position?.roomId !== feed.roomId) throw new ClientError('CURSOR_INVALID');
    if (isReadFailure(await feed.read(position, 1))) throw this.#expired(feed);
    return position;
  }

  /** Ends the streams of viewers who may no longer see the room. */
  async #checkAccess(feed: Feed, checked: Iterable<Subscriber> = this.#subscribers.get(feed) ?? []): Promise<void> {
    const subscribers = [...checked].filter(({ request }) => !request.visibleRooms.seesAll);
    if (subscribers.length === 0) return;
    const userIds = new Set(subscribers.flatMap(({ request }) => request.visibleRooms.userId ?? []));
    const readers = await this.#parts.findReaders(feed.roomId, [...userIds]);
    if (!readers) return;
    for (const subscriber of subscribers) {
      const { userId } = subscriber.request.visibleRooms;
      if (userId === null || !readers.has(userId)) subscriber.end(new ClientError('MEMBERSHIP_REVOKED'));
    }
  }

  #expired(feed: Feed): ClientError {
    if (feed.deleted) return new ClientError('ROOM_DELETED');
    return new ClientError('CURSOR_EXPIRED', undefined, { live: { cursor: feed.cursor } });
  }
}

function codeOf(error: unknown): ErrorCode {
  return error instanceof ClientError ? error.code : 'INTERNAL_SERVER_ERROR';
}

function costOf(request: SubscribeRequest): GroupCostRequest {
  const { roomId, cost, address, visibleRooms } = request;
  return { group: `${roomId} ${groupKeyOf(request)}`, cost, address, userId: visibleRooms.userId };
}
