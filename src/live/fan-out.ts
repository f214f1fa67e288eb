import { setImmediate } from 'node:timers/promises';
import type { LogPosition } from '../data/events.ts';
import { ClientError } from '../errors.ts';
import { decodeCursor } from './cursor.ts';
import { type Feed, isLoss } from './feed.ts';
import { Feeds, type FeedsParts } from './feeds.ts';
import { Group, ReplayBudget } from './group.ts';
import { type GroupCostLimits, type GroupCostRequest, GroupCosts } from './group-costs.ts';
import { Lane } from './lane.ts';
import type { Render, SubscribeRequest } from './subscribe-request.ts';
import { Subscriber, type SubscriberHub } from './subscriber.ts';

export interface FanOutParts extends FeedsParts {
  /** Which of these users see the room; undefined where everyone does. */
  findReaders: (roomId: string, userIds: readonly string[]) => Promise<Set<string> | undefined>;
  groupCosts: GroupCostLimits;
}

/** The groups of a room are executed one after the other. Live events do not wait until replays are done. */
interface Lanes {
  live: Lane;
  replay: Lane;
}

/** Subscribers of room events, grouped so that each event is executed and serialised once for all who see the same. */
export class FanOut implements SubscriberHub {
  readonly #parts: FanOutParts;
  readonly #feeds: Feeds;
  readonly #groups = new Map<Feed, Map<string, Group>>();
  readonly #subscribers = new Map<Feed, Set<Subscriber>>();
  readonly #costs: GroupCosts;
  readonly #lanes = new WeakMap<Feed, Lanes>();
  readonly #replayBudget = new ReplayBudget();
  #renderedCount = 0;

  constructor(parts: FanOutParts) {
    this.#parts = parts;
    this.#costs = new GroupCosts(parts.groupCosts);
    this.#feeds = new Feeds(parts, (feed) => this.#checkAccess(feed));
  }

  /** What is open, all zero where nobody listens; and how many executions there were. */
  get counts(): { feeds: number; groups: number; subscribers: number; rendered: number } {
    const groups = this.#groups.values().reduce((count, { size }) => count + size, 0);
    const subscribers = this.#subscribers.values().reduce((count, { size }) => count + size, 0);
    return { feeds: this.#feeds.size, groups, subscribers, rendered: this.#renderedCount };
  }

  /**
   * A stream that misses nothing from here on; it sends nothing before a sink is attached. `charge` is called where the
   * subscription opens a group: then each event of its room costs more from now on.
   * @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED; what `charge` throws.
   */
  async subscribe(request: SubscribeRequest, charge?: () => void): Promise<Subscriber> {
    const { group } = costOf(request);
    const isNew = charge !== undefined && this.#costs.chargeIfNew(group, charge);
    try {
      return await this.#subscribe(request);
    } catch (error) {
      if (isNew) this.#costs.forgetNew(group);
      throw error;
    }
  }

  async #subscribe(request: SubscribeRequest): Promise<Subscriber> {
    const feed = await this.#feeds.acquire(request.roomId);
    let leave = () => this.#feeds.release(request.roomId);
    try {
      const position = await this.#findStart(feed, request);
      const subscriber = new Subscriber(this, feed, request, position);
      subscriber.hold = this.#costs.hold(costOf(request));
      const known = this.#subscribers.get(feed) ?? new Set();
      this.#subscribers.set(feed, known.add(subscriber));
      leave = async () => subscriber.leave();
      // From here on it is looked at with the others; what changed before is looked at now.
      await this.#checkAccess(feed, [subscriber]);
      return subscriber;
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** What was erased stays erased: nothing read before is replayed again. */
  forgetReplayed(): void {
    for (const groups of this.#groups.values()) for (const group of groups.values()) group.forgetAll();
  }

  /** Leaves every stream to be taken up elsewhere. */
  async close(): Promise<void> {
    const subscribers = this.#subscribers.values().flatMap((some) => some.values());
    for (const subscriber of [...subscribers]) subscriber.cut();
    await setImmediate();
  }

  forget(subscriber: Subscriber): void {
    this.#release(subscriber);
    subscriber.request.onLeave();
    const known = this.#subscribers.get(subscriber.feed);
    if (known?.delete(subscriber) && known.size === 0) this.#subscribers.delete(subscriber.feed);
    this.#feeds.release(subscriber.feed.roomId).catch(this.#parts.onError);
  }

  onError(error: unknown): void {
    this.#parts.onError(error);
  }

  findGroup({ feed, request, position }: Subscriber): Group {
    // Who starts from now on gets all events live; who resumes gets those in between as they are now.
    return this.#findGroupAt(feed, request, request.after === undefined ? position : feed.head);
  }

  #findGroupAt(feed: Feed, request: SubscribeRequest, position: LogPosition): Group {
    const { isPersonal } = request.traits;
    const key = groupKeyOf(request);
    const groups = this.#groups.get(feed) ?? new Map<string, Group>();
    const known = groups.get(key);
    if (known) return known;
    const render = isPersonal ? request.renderPersonal : request.renderShared;
    const { live, replay } = this.#lanesOf(feed);
    const group: Group = new Group(position, {
      feed,
      render: this.#renderIn(live, render),
      replay: this.#renderIn(replay, render),
      replayBudget: this.#replayBudget,
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
    const lanes = this.#lanes.get(feed) ?? { live: new Lane(), replay: new Lane() };
    this.#lanes.set(feed, lanes);
    return lanes;
  }

  #renderIn(lane: Lane, render: Render): Render {
    return (event) =>
      lane.run(() => {
        this.#renderedCount += 1;
        return render(event);
      });
  }

  /** The selection turned out to be personal: each viewer gets a group of their own, from the same event on. */
  #split(group: Group): void {
    // One that leaves meanwhile, because another one ends, must not take a hold that nobody would release.
    for (const member of group.members) {
      member.request.traits.isPersonal = true;
      if (this.#holdAnew(member)) member.enter(this.#findGroupAt(group.feed, member.request, group.position));
    }
  }

  #release(subscriber: Subscriber): void {
    if (subscriber.hold) this.#costs.release(subscriber.hold);
    subscriber.hold = undefined;
  }

  /** What was one group for many viewers is now one for each. */
  #holdAnew(member: Subscriber): boolean {
    try {
      this.#release(member);
      member.hold = this.#costs.hold(costOf(member.request));
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
    if (isLoss(await feed.read(position, 1))) throw this.#expired(feed);
    return position;
  }

  /** Ends the streams of those who do not see the room any more. */
  async #checkAccess(feed: Feed, some: Iterable<Subscriber> = this.#subscribers.get(feed) ?? []): Promise<void> {
    const subscribers = [...some].filter(({ request }) => !request.visibleRooms.seesAll);
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

function groupKeyOf({ key, traits, viewerKey }: SubscribeRequest): string {
  return traits.isPersonal ? `${key} ${viewerKey}` : key;
}

function costOf(request: SubscribeRequest): GroupCostRequest {
  const { roomId, cost, address, visibleRooms } = request;
  return { group: `${roomId} ${groupKeyOf(request)}`, cost, address, userId: visibleRooms.userId };
}
