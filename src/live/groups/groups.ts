import { LimitedQueue } from '../../common/limited-queue.ts';
import type { LogPosition } from '../../data/event-log/events.ts';
import type { Feed } from '../feed/feed.ts';
import { type ExecuteEvent, groupKeyOf, type Selection } from '../subscribe-request.ts';
import { Group, type GroupParts } from './group.ts';

type GroupsParts = Pick<GroupParts, 'counts' | 'tracing' | 'onError'>;

/** The groups of one room. */
interface RoomGroups {
  groups: Map<string, Group>;
  /** Each queue executes the groups one after the other. There are two, so that live events do not wait for replays. */
  live: LimitedQueue;
  replay: LimitedQueue;
}

/** The groups of all rooms: followers of one room whose selections are equal share a group. */
export class Groups {
  readonly #parts: GroupsParts;
  readonly #rooms = new Map<Feed, RoomGroups>();
  readonly #replayBudget = { used: 0 };

  constructor(parts: GroupsParts) {
    this.#parts = parts;
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
    const key = groupKeyOf(selection);
    const createQueue = () => new LimitedQueue({ maxRunning: 1 });
    const room = this.#rooms.get(feed) ?? { groups: new Map(), live: createQueue(), replay: createQueue() };
    const { groups, live, replay } = room;
    const existing = groups.get(key);
    if (existing) return existing;
    const execute = selection.traits.isPersonal ? selection.executePersonal : selection.executeShared;
    const group = new Group(position, {
      ...this.#parts,
      feed,
      execute: this.#executeIn(live, execute),
      replay: this.#executeIn(replay, execute),
      replayBudget: this.#replayBudget,
      findOrCreateGroup: (other, position) => this.findOrCreate(feed, other, position),
      onEmpty: () => {
        groups.delete(key);
        if (groups.size === 0) this.#rooms.delete(feed);
      },
    });
    groups.set(key, group);
    this.#rooms.set(feed, room);
    return group;
  }

  #executeIn(queue: LimitedQueue, execute: ExecuteEvent): ExecuteEvent {
    return (event, span) =>
      queue.run(() => {
        this.#parts.counts.executions += 1;
        return execute(event, span);
      });
  }
}
