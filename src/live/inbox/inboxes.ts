import { yieldWhenDue } from '../../common/event-loop.ts';
import { forEachConcurrently } from '../../common/for-each-concurrently.ts';
import type { Database } from '../../data/database/database.ts';
import { findForeignRooms } from '../../data/domain/inbox-rooms.ts';
import { ClientError, codeOf } from '../../errors.ts';
import { type Bus, userTopic } from '../bus/bus.ts';
import { type Comparison, createComparison } from '../comparison.ts';
import type { Feeds } from '../feed/feeds.ts';
import type { GroupCosts } from '../groups/group-costs.ts';
import type { Groups } from '../groups/groups.ts';
import type { LiveCounts } from '../live-counts.ts';
import { Inbox } from './inbox.ts';
import { type InboxRequest, inboxRoomBytes, tooManyRooms } from './inbox-request.ts';
import { findRoomStart, findStart, readCursors } from './positions.ts';

/** The maximum number of rooms of one inbox that are opened at the same time. */
const maxOpening = 16;

interface InboxesParts {
  database: Database;
  bus: Bus;
  feeds: Feeds;
  groups: Groups;
  costs: GroupCosts;
  counts: LiveCounts;
  onError: (error: unknown) => void;
}

/** The inboxes of one user. */
interface UserInboxes {
  inboxes: Set<Inbox>;
  /** Resolves when messages of the bus are received. The result unsubscribes. */
  leaveBus: Promise<() => void>;
}

/**
 * The inboxes of this process, which it wakes when the logs of their users have new events. The bus announces them, and a
 * periodic query compares the positions of all inboxes, because its messages may be lost.
 */
export class Inboxes {
  readonly #parts: InboxesParts;
  /** From their creation on. */
  readonly #inboxes = new Set<Inbox>();
  /** Those that have opened their rooms, by user. */
  readonly #users = new Map<string, UserInboxes>();
  readonly #comparison: Comparison;

  constructor(parts: InboxesParts) {
    this.#parts = parts;
    this.#comparison = createComparison({
      ...parts,
      logs: 'users',
      isNeeded: () => this.#users.size > 0,
      list: () => this.#users.values().flatMap(({ inboxes }) => inboxes),
      positionOf: ({ request, position }) => [request.userId, position],
      onCompared(inbox, moved) {
        // One that is replaying may have failed to find that it is at the head.
        if (moved.has(inbox.request.userId) || inbox.isReplaying) inbox.wake({ mayHaveLeft: true });
      },
    });
  }

  [Symbol.iterator](): Iterator<Inbox> {
    return this.#inboxes.values();
  }

  get size(): number {
    return this.#inboxes.size;
  }

  /** Compares all inboxes soon, because messages of the bus may have been lost. */
  compareSoon(): void {
    this.#comparison.runSoon();
  }

  /** Ends the inboxes with a room whose users have another history in the database, in which they may be no members of it. */
  async checkHistory(roomId: string): Promise<void> {
    const inboxes = [...this.#inboxes].filter((inbox) => inbox.follows(roomId));
    await forEachConcurrently(inboxes, maxOpening, (inbox) => inbox.checkHistory());
  }

  /** @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED. */
  async open(request: InboxRequest): Promise<Inbox> {
    const { selection, rooms } = request;
    const after = request.after && readCursors(request.after);
    await this.#assertOwn(request, after?.keys() ?? []);
    const { positions, rooms: followed } = await findStart(this.#parts.database, request, after);
    const bytes = rooms.rooms.length * inboxRoomBytes;
    selection.account.addOrThrow(bytes);
    selection.account.add(-bytes);
    const onEnd = () => this.#remove(inbox);
    const inbox: Inbox = new Inbox({ ...this.#parts, request: selection, positions, source: 'inbox', onEnd });
    this.#inboxes.add(inbox);
    try {
      if (!inbox.countRooms(rooms.rooms.length)) throw tooManyRooms();
      await forEachConcurrently(followed, maxOpening, async (room) => {
        await yieldWhenDue();
        request.throwIfCancelled();
        const follower = await inbox.open(room.roomId, (feed) => findRoomStart(feed, room, request, after));
        const position = after?.get(room.roomId);
        // It was deleted meanwhile.
        if (!follower && position) positions.clientPositions.set(room.roomId, position);
      });
      if (!inbox.hasStopped) await this.#add(inbox);
      return inbox;
    } catch (error) {
      inbox.stop(codeOf(error));
      throw error;
    }
  }

  /** Resolves when the inbox will learn of every later event of its user. */
  async #add(inbox: Inbox): Promise<void> {
    const { userId } = inbox.request;
    const user = this.#users.get(userId) ?? this.#listenTo(userId);
    user.inboxes.add(inbox);
    await user.leaveBus;
  }

  #remove(inbox: Inbox): void {
    this.#inboxes.delete(inbox);
    const { userId } = inbox.request;
    const user = this.#users.get(userId);
    if (!user?.inboxes.delete(inbox) || user.inboxes.size > 0) return;
    this.#users.delete(userId);
    this.#comparison.update();
    user.leaveBus.then((leave) => leave(), this.#parts.onError);
  }

  #listenTo(userId: string): UserInboxes {
    const inboxes = new Set<Inbox>();
    const leaveBus = this.#parts.bus.subscribe(userTopic(userId), ({ type }) => {
      // A user may read many rooms, which ends no membership.
      for (const inbox of inboxes) inbox.wake({ mayHaveLeft: type !== 'roomRead' });
    });
    const user = { inboxes, leaveBus };
    this.#users.set(userId, user);
    this.#comparison.update();
    return user;
  }

  /** Cursors of rooms that were deleted or left are not refused. */
  async #assertOwn({ selection: { userId }, rooms: { rooms } }: InboxRequest, named: Iterable<string>): Promise<void> {
    const joined = new Set([userId, ...rooms.map(({ roomId }) => roomId)]);
    const others = [...named].filter((roomId) => !joined.has(roomId));
    if (others.length === 0) return;
    const foreign = await findForeignRooms(this.#parts.database.db, userId, others);
    if (foreign.length > 0)
      throw new ClientError('CURSOR_INVALID', 'A cursor is of a room that you never belonged to.');
  }
}
