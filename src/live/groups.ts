import type { LogPosition } from '../data/events.ts';
import type { Tracing } from '../tracing/span.ts';
import type { Feed } from './feed/feed.ts';
import type { Follower } from './follower.ts';
import { Group, ReplayBudget } from './group.ts';
import type { LiveCounts } from './live-counts.ts';
import { SerialQueue } from './serial-queue.ts';
import { type ExecuteEvent, groupKeyOf, type Selection } from './subscribe-request.ts';

export interface GroupsParts {
  counts: LiveCounts;
  tracing: Tracing | undefined;
  onError: (error: unknown) => void;
}

/** Each queue executes the groups of a room one after the other. With two lanes, live events do not wait for replays. */
interface Lanes {
  live: SerialQueue;
  replay: SerialQueue;
}

/** The groups of all rooms: followers of one room whose selections are equal share a group. */
export class Groups {
  readonly #parts: GroupsParts;
  readonly #groups = new Map<Feed, Map<string, Group<Follower>>>();
  readonly #lanes = new WeakMap<Feed, Lanes>();
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
  find(feed: Feed, selection: Selection, position: LogPosition): Group<Follower> {
    const key = groupKeyOf(selection);
    const groups = this.#groups.get(feed) ?? new Map<string, Group<Follower>>();
    const existing = groups.get(key);
    if (existing) return existing;
    const execute = selection.traits.isPersonal ? selection.executePersonal : selection.executeShared;
    const { live, replay } = this.#lanesOf(feed);
    const group: Group<Follower> = new Group(position, {
      ...this.#parts,
      feed,
      execute: this.#executeIn(live, execute),
      replay: this.#executeIn(replay, execute),
      replayBudget: this.#replayBudget,
      split: () => this.#split(group),
      onEmpty: () => {
        groups.delete(key);
        if (groups.size === 0) this.#groups.delete(feed);
      },
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
        this.#parts.counts.executions += 1;
        return execute(event, span);
      });
  }

  /** The selection is personal: each viewer gets a separate group, which starts at the same event. */
  #split(group: Group<Follower>): void {
    // `members` is iterated without a copy: a member that leaves during the loop must not reserve a share, because nothing
    // would release it.
    for (const member of group.members) {
      const { request } = member.stream;
      request.traits.isPersonal = true;
      if (member.stream.becomePersonal()) member.enter(this.find(group.feed, request, group.position));
    }
  }
}
