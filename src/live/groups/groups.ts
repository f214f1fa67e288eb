import type { LogPosition } from '../../data/events.ts';
import type { Tracing } from '../../tracing/span.ts';
import type { Feed } from '../feed/feed.ts';
import type { LiveCounts } from '../live-counts.ts';
import { type ExecuteEvent, groupKeyOf, type Selection } from '../subscribe-request.ts';
import { Group, ReplayBudget } from './group.ts';
import { SerialQueue } from './serial-queue.ts';

export interface GroupsParts {
  counts: LiveCounts;
  tracing: Tracing | undefined;
  onError: (error: unknown) => void;
}

/**
 * Each queue executes the groups of a room one after the other. There are two, so that live events do not wait for
 * replays.
 */
interface RoomQueues {
  live: SerialQueue;
  replay: SerialQueue;
}

/** The groups of all rooms: followers of one room whose selections are equal share a group. */
export class Groups {
  readonly #parts: GroupsParts;
  readonly #groups = new Map<Feed, Map<string, Group>>();
  readonly #queues = new WeakMap<Feed, RoomQueues>();
  readonly #replayBudget = new ReplayBudget();

  constructor(parts: GroupsParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#groups.values().reduce((count, { size }) => count + size, 0);
  }

  /** The numbers of followers by room. */
  *followers(): Iterable<[roomId: string, followers: number]> {
    for (const [{ roomId }, groups] of this.#groups) {
      yield [roomId, groups.values().reduce((count, { members }) => count + members.size, 0)];
    }
  }

  /** Clears the replay caches of all groups, so that erased content is not replayed. */
  clearReplayed(): void {
    for (const groups of this.#groups.values()) for (const group of groups.values()) group.clearReplayed();
  }

  /** The group of a selection in a room. A new group sends the events after `position` live. */
  findOrCreate(feed: Feed, selection: Selection, position: LogPosition): Group {
    const key = groupKeyOf(selection);
    const groups = this.#groups.get(feed) ?? new Map<string, Group>();
    const existing = groups.get(key);
    if (existing) return existing;
    const execute = selection.traits.isPersonal ? selection.executePersonal : selection.executeShared;
    const { live, replay } = this.#queuesOf(feed);
    const group = new Group(position, {
      ...this.#parts,
      feed,
      execute: this.#executeIn(live, execute),
      replay: this.#executeIn(replay, execute),
      replayBudget: this.#replayBudget,
      findOrCreateGroup: (other, position) => this.findOrCreate(feed, other, position),
      onEmpty: () => {
        groups.delete(key);
        if (groups.size === 0) this.#groups.delete(feed);
      },
    });
    this.#groups.set(feed, groups.set(key, group));
    return group;
  }

  #queuesOf(feed: Feed): RoomQueues {
    const queues = this.#queues.get(feed) ?? { live: new SerialQueue(), replay: new SerialQueue() };
    this.#queues.set(feed, queues);
    return queues;
  }

  #executeIn(queue: SerialQueue, execute: ExecuteEvent): ExecuteEvent {
    return (event, span) =>
      queue.run(() => {
        this.#parts.counts.executions += 1;
        return execute(event, span);
      });
  }
}
