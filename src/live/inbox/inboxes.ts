import { yieldWhenDue } from '../../common/event-loop.ts';
import { forEachConcurrently } from '../../common/for-each-concurrently.ts';
import { findForeignRooms } from '../../data/domain/inbox-rooms.ts';
import { ClientError, codeOf } from '../../errors.ts';
import type { Feeds } from '../feed/feeds.ts';
import type { GroupCosts } from '../groups/group-costs.ts';
import type { Groups } from '../groups/groups.ts';
import type { LiveCounts } from '../live-counts.ts';
import { Inbox, type InboxParts } from './inbox.ts';
import { type InboxRequest, inboxRoomBytes, tooManyRooms } from './inbox-request.ts';
import { findRoomStart, findStart, readCursors } from './start.ts';
import { UserLogs, type UserLogsParts } from './user-logs.ts';

/** One inbox opens many feeds, most of which are quiet: they must not take much memory. */
const recentCount = 8;
/** The maximum number of rooms of one inbox that are opened at the same time. */
const maxOpening = 16;

interface InboxesParts extends UserLogsParts {
  feeds: Feeds;
  groups: Groups;
  costs: GroupCosts;
  counts: LiveCounts;
}

/** The inboxes of this process. */
export class Inboxes {
  readonly #parts: InboxesParts;
  readonly #inboxes = new Set<Inbox>();
  readonly #userLogs: UserLogs;

  constructor(parts: InboxesParts) {
    this.#parts = parts;
    this.#userLogs = new UserLogs(parts);
  }

  [Symbol.iterator](): Iterator<Inbox> {
    return this.#inboxes.values();
  }

  get size(): number {
    return this.#inboxes.size;
  }

  compareSoon(): void {
    this.#userLogs.compareSoon();
  }

  /** Ends the inboxes with a room whose users have another history in the database, in which they may be no members of it. */
  async checkHistory(roomId: string): Promise<void> {
    const inboxes = [...this.#inboxes].filter((inbox) => inbox.follows(roomId));
    await forEachConcurrently(inboxes, maxOpening, (inbox) => inbox.checkHistory());
  }

  /** @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED. */
  async open(request: InboxRequest): Promise<Inbox> {
    const { selection, rooms } = request;
    const positions = request.after && readCursors(request.after);
    await this.#assertOwn(request, positions?.keys() ?? []);
    const { rooms: followed, ...start } = await findStart(this.#parts.database, request, positions);
    const bytes = rooms.rooms.length * inboxRoomBytes;
    selection.account.addOrThrow(bytes);
    selection.account.add(-bytes);
    const inbox = this.#create(request, start);
    try {
      if (!inbox.countRooms(rooms.rooms.length)) throw tooManyRooms();
      await forEachConcurrently(followed, maxOpening, async (room) => {
        await yieldWhenDue();
        request.throwIfCancelled();
        const follower = await inbox.open(room.roomId, (feed) => findRoomStart(feed, room, request, positions));
        const position = positions?.get(room.roomId);
        // It was deleted meanwhile.
        if (!follower && position) start.clientPositions.set(room.roomId, position);
      });
      if (!inbox.hasStopped) await this.#userLogs.add(inbox);
      return inbox;
    } catch (error) {
      inbox.stop(codeOf(error));
      throw error;
    }
  }

  #create({ selection: request }: InboxRequest, start: InboxParts['start']): Inbox {
    const { database, feeds, groups, costs, counts, onError } = this.#parts;
    const inbox: Inbox = new Inbox({
      request,
      start,
      source: 'inbox',
      database,
      costs,
      counts,
      groups,
      acquire: (roomId) => feeds.acquire(roomId, recentCount),
      release: (roomId) => feeds.release(roomId).catch(onError),
      onEnd: () => this.#remove(inbox),
      onError,
    });
    this.#inboxes.add(inbox);
    return inbox;
  }

  #remove(inbox: Inbox): void {
    this.#inboxes.delete(inbox);
    this.#userLogs.delete(inbox);
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
