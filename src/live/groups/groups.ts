import { LimitedQueue } from '../../common/limited-queue.ts';
import {
  type InboxEvent,
  isReadFailure,
  type LogPosition,
  type RoomEvent,
  type StreamEvent,
} from '../../data/event-log/events.ts';
import { errorTypeOf, type Span, type Tracing } from '../../tracing/tracing.ts';
import { startDelivery } from '../event-spans.ts';
import type { Feed, FeedGroup } from '../feed/feed.ts';
import type { LiveCounts } from '../live-counts.ts';
import { type EncodedEvent, type ExecuteEvent, groupKeyOf, personal, type Selection } from '../stream.ts';

interface GroupsParts {
  counts: LiveCounts;
  tracing: Tracing | undefined;
  onError: (error: unknown) => void;
}

/** The groups of one room. */
interface RoomGroups {
  groups: Map<string, Group>;
  /** Each queue executes the groups one after the other. There are two, so that live events do not wait for replays. */
  live: LimitedQueue;
  replay: LimitedQueue;
}

const batchLength = 64;
const maxCachedReplays = 512;
const maxGroupReplayLength = 2 ** 20;
const maxReplayCacheLength = 4 * maxGroupReplayLength;
/** How long a replayed event is cached. Many clients that reconnect at the same time then share one read. */
const replayCacheTtlMs = 1_000;

/** A follower, as its group sees it. */
export interface Member {
  /** Receives a live event. Never throws. */
  deliver(encoded: EncodedEvent): void;
  /** Moves its position forward; all events up to it were sent, or left out by the selection. */
  advanceTo(position: LogPosition): void;
  /** Stops live delivery at a position, by default its own, and reads on from the log. */
  fallBehind(position?: LogPosition): void;
  /** The room was deleted. */
  endDeleted(): void;
  /** The selection is found to be personal: the member moves to the group of its viewer. */
  becomePersonal(findOrCreateGroup: (selection: Selection) => Group): void;
}

/**
 * The followers of one room with equal selections. A group follows the feed and executes the selection once per event, for
 * all its live members.
 */
export class Group implements FeedGroup {
  readonly feed: Feed;
  /** The position of the latest event that it has executed. */
  position: LogPosition;
  readonly members = new Set<Member>();
  readonly #live = new Set<Member>();
  readonly #key: string;
  readonly #select: ExecuteEvent;
  readonly #room: RoomGroups;
  readonly #all: Groups;
  /** `length`: of the JSON; 0 until it is known. */
  readonly #replayed = new Map<number, { subjectId: string; execution: ReturnType<ExecuteEvent>; length: number }>();
  #replayedLength = 0;
  #clearing: NodeJS.Timeout | undefined;
  #isDelivering = false;
  /** Resolves when the latest delivery has ended. */
  #delivery: Promise<void> | undefined;
  #deletion: ReturnType<ExecuteEvent> | undefined;

  constructor(feed: Feed, position: LogPosition, selection: Selection, room: RoomGroups, all: Groups) {
    this.feed = feed;
    this.position = position;
    this.#key = groupKeyOf(selection);
    this.#select = selection.traits.isPersonal ? selection.executePersonal : selection.executeShared;
    this.#room = room;
    this.#all = all;
    room.groups.set(this.#key, this);
    feed.groups.add(this);
  }

  add(member: Member): void {
    this.members.add(member);
  }

  goLive(member: Member): void {
    this.#live.add(member);
    this.advance();
  }

  fallBehind(member: Member): void {
    this.#live.delete(member);
  }

  remove(member: Member): void {
    this.members.delete(member);
    this.#live.delete(member);
    if (this.members.size > 0) return;
    this.feed.groups.delete(this);
    this.clearReplayed();
    this.#room.groups.delete(this.#key);
    if (this.#room.groups.size === 0) this.#all.forget(this.feed);
  }

  advance(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    // A failure loses nothing: the position does not change, and the next event or comparison of heads tries again.
    this.#delivery = this.#deliverNewEvents().catch(this.#all.parts.onError);
  }

  restart(): void {
    this.position = this.feed.head;
    this.#live.clear();
    this.clearReplayed();
    // Each checks its position against the log.
    for (const member of [...this.members]) member.fallBehind();
  }

  end(): void {
    for (const member of [...this.members]) member.endDeleted();
  }

  forgetSubject(subjectId: string): void {
    for (const [seq, entry] of this.#replayed) {
      if (entry.subjectId !== subjectId) continue;
      this.#replayed.delete(seq);
      this.#countReplayed(-entry.length);
    }
  }

  clearReplayed(): void {
    clearTimeout(this.#clearing);
    this.#clearing = undefined;
    this.#replayed.clear();
    this.#countReplayed(-this.#replayedLength);
  }

  /**
   * Executes the selection for an event with its content as it is now; members that catch up at the same time share the
   * result.
   */
  async replay(event: RoomEvent): ReturnType<ExecuteEvent> {
    const cached = this.#replayed.get(event.seq)?.execution;
    const execution =
      cached ?? this.#execute(this.#room.replay, { ...event, content: undefined, room: this.feed.room });
    if (!cached) this.#cacheReplayed(event, execution);
    const result = await execution;
    if (result === personal) this.#split();
    return result;
  }

  #cacheReplayed({ seq, subjectId }: RoomEvent, execution: ReturnType<ExecuteEvent>): void {
    const entry = { subjectId, execution, length: 0 };
    this.#replayed.set(seq, entry);
    this.#clearing ??= setTimeout(() => this.clearReplayed(), replayCacheTtlMs).unref();
    execution.then(
      (result) => {
        if (this.#replayed.get(seq) !== entry) return;
        entry.length = result && result !== personal ? result.json.length : 0;
        this.#countReplayed(entry.length);
        const isFull = this.#replayedLength > maxGroupReplayLength || this.#replayed.size > maxCachedReplays;
        if (isFull || this.#all.replayedLength > maxReplayCacheLength) this.clearReplayed();
      },
      // The next replay of this event tries again.
      () => this.#replayed.get(seq) === entry && this.#replayed.delete(seq),
    );
  }

  #countReplayed(length: number): void {
    this.#replayedLength += length;
    this.#all.replayedLength += length;
  }

  /** Executes the selection for the deletion of the room, once for all members, after the events before it. */
  async executeDeletion(): ReturnType<ExecuteEvent> {
    if (this.#isDelivering) await this.#delivery;
    this.#deletion ??= this.#executeDeletion();
    const result = await this.#deletion;
    if (result === personal && this.members.size > 0) this.#split();
    return result;
  }

  async #executeDeletion(): ReturnType<ExecuteEvent> {
    try {
      const { roomId, head, room, deletion } = this.feed;
      const { actorId = null, at = Date.now() } = deletion ?? {};
      const subject = { subjectId: roomId, version: room?.version ?? 0 };
      const deleted = { type: 'RoomDeleted', ...subject, previousMark: 0, actorId, at } as const;
      // It has the room as it was before.
      const event: InboxEvent = { ...head, ...deleted, roomId, room };
      return await this.#execute(this.#room.live, event);
    } catch (error) {
      // The next call tries again.
      this.#deletion = undefined;
      throw error;
    }
  }

  async #deliverNewEvents(): Promise<void> {
    try {
      while (this.position.seq < this.feed.head.seq && this.#live.size > 0) {
        const { position } = this;
        const events = await this.feed.read(position, batchLength);
        // The feed restarted the group in another history during the read.
        if (position !== this.position) continue;
        if (isReadFailure(events)) return this.#skipToHead();
        if (!(await this.#executeAll(events))) return this.#split();
      }
      // Without live members there is nothing to execute. Members that catch up read from their own positions.
      if (this.#live.size === 0) this.position = this.feed.head;
    } finally {
      // Runs in the same synchronous step as the last check of `head`, so that no notification is missed.
      this.#isDelivering = false;
    }
  }

  /** Returns false if the selection is found to be personal. */
  async #executeAll(events: readonly RoomEvent[]): Promise<boolean> {
    const { generation } = this.feed;
    for (const event of events) {
      if (this.#live.size === 0) return true;
      const span = startDelivery(this.#all.parts.tracing, event);
      try {
        const encoded = await this.#execute(this.#room.live, event, span);
        if (generation !== this.feed.generation) return true;
        if (encoded === personal) return false;
        this.position = encoded?.position ?? { seq: event.seq, mark: event.mark };
        const count = encoded ? this.#deliver(encoded, event.at) : 0;
        span?.set({ 'postroom.delivery.count': count });
      } catch (error) {
        span?.end(errorTypeOf(error));
        throw error;
      } finally {
        span?.end();
      }
    }
    return true;
  }

  #execute(queue: LimitedQueue, event: StreamEvent, span?: Span): ReturnType<ExecuteEvent> {
    return queue.run(() => {
      this.#all.parts.counts.executions += 1;
      return this.#select(event, span);
    });
  }

  /** Returns the number of members that it was written to. */
  #deliver(encoded: EncodedEvent, at: number): number {
    const { counts } = this.#all.parts;
    const before = counts.deliveries;
    for (const member of this.#live) member.deliver(encoded);
    counts.recordLag(at, counts.deliveries - before);
    return counts.deliveries - before;
  }

  /** The events after the group's position can no longer be read. Each member finds out when it catches up. */
  #skipToHead(): void {
    const reached = this.position;
    this.position = this.feed.head;
    for (const member of [...this.#live]) member.fallBehind(reached);
  }

  /** The selection is personal: each viewer gets a separate group, which starts at the same event. */
  #split(): void {
    for (const member of this.#live) member.advanceTo(this.position);
    const findOrCreate = (selection: Selection) => this.#all.findOrCreate(this.feed, selection, this.position);
    // `members` is iterated without a copy: a member that leaves during the loop must not reserve a share, because nothing
    // would release it.
    for (const member of this.members) member.becomePersonal(findOrCreate);
  }
}

/** The groups of all rooms: followers of one room whose selections are equal share a group. */
export class Groups {
  readonly parts: GroupsParts;
  /** The total size of the replay caches, in characters: each is small, but groups may be many. */
  replayedLength = 0;
  readonly #rooms = new Map<Feed, RoomGroups>();

  constructor(parts: GroupsParts) {
    this.parts = parts;
  }

  get size(): number {
    return this.#rooms.values().reduce((count, { groups }) => count + groups.size, 0);
  }

  /** The numbers of followers by room. */
  *followers(): Iterable<[roomId: string, followers: number]> {
    for (const [{ roomId }, { groups }] of this.#rooms) {
      yield [roomId, groups.values().reduce((count, { members }) => count + members.size, 0)];
    }
  }

  /** Clears the replay caches of all groups, so that erased content is not replayed. */
  clearReplayed(): void {
    for (const { groups } of this.#rooms.values()) for (const group of groups.values()) group.clearReplayed();
  }

  /** The group of a selection in a room. A new group sends the events after `position` live. */
  findOrCreate(feed: Feed, selection: Selection, position: LogPosition): Group {
    const createQueue = () => new LimitedQueue({ maxRunning: 1 });
    const room = this.#rooms.get(feed) ?? { groups: new Map(), live: createQueue(), replay: createQueue() };
    this.#rooms.set(feed, room);
    return room.groups.get(groupKeyOf(selection)) ?? new Group(feed, position, selection, room, this);
  }

  /** The room has no groups any more. */
  forget(feed: Feed): void {
    this.#rooms.delete(feed);
  }
}
