import { yieldWhenDue } from '../../common/event-loop.ts';
import { forEachOf } from '../../common/for-each-of.ts';
import { type AfterPosition, findForeignRooms, findNextJoin, findNextLeave } from '../../data/domain/inbox-rooms.ts';
import { findMembersAmong } from '../../data/domain/memberships.ts';
import type { LogPosition } from '../../data/event-log/events.ts';
import { ClientError, codeOf } from '../../errors.ts';
import type { Feeds } from '../feed/feeds.ts';
import type { GroupCosts } from '../groups/group-costs.ts';
import type { Groups } from '../groups/groups.ts';
import type { LiveCounts } from '../live-counts.ts';
import { Inbox } from './inbox.ts';
import { type InboxRequest, inboxRoomBytes, tooManyRooms } from './inbox-request.ts';
import { Memberships, type MembershipsParts } from './memberships.ts';
import { createFindStart, readCursors } from './start.ts';

/** One inbox opens many feeds, most of which are quiet: they must not take much memory. */
const recentCount = 8;
/** The maximum number of rooms of one inbox that are opened at the same time. */
const maxOpening = 16;

interface InboxesParts extends MembershipsParts {
  feeds: Feeds;
  groups: Groups;
  costs: GroupCosts;
  counts: LiveCounts;
}

/** The inboxes of this process. */
export class Inboxes {
  readonly #parts: InboxesParts;
  readonly #inboxes = new Set<Inbox>();
  readonly #memberships: Memberships;

  constructor(parts: InboxesParts) {
    this.#parts = parts;
    this.#memberships = new Memberships(parts);
  }

  [Symbol.iterator](): Iterator<Inbox> {
    return this.#inboxes.values();
  }

  get size(): number {
    return this.#inboxes.size;
  }

  compareSoon(): void {
    this.#memberships.compareSoon();
  }

  /** Ends the inboxes with a room of which their users are no members in the present history of the database. */
  async checkMembers(roomId: string): Promise<void> {
    const inboxes = [...this.#inboxes].filter((inbox) => inbox.follows(roomId));
    if (inboxes.length === 0) return;
    const userIds = new Set(inboxes.map(({ request }) => request.userId));
    const { members } = await findMembersAmong(this.#parts.database.db, roomId, [...userIds]);
    for (const inbox of inboxes) {
      if (!members.has(inbox.request.userId)) inbox.lose(roomId);
      this.#memberships.refresh(inbox);
    }
  }

  /** @throws ClientError CURSOR_INVALID, CURSOR_EXPIRED or SUBSCRIPTION_LIMIT_EXCEEDED. */
  async open(request: InboxRequest): Promise<Inbox> {
    const { rooms, version } = request.rooms;
    const positions = request.after && readCursors(request.after);
    await this.#assertOwn(request, positions?.keys() ?? []);
    const { selection } = request;
    const bytes = rooms.length * inboxRoomBytes;
    selection.account.addOrThrow(bytes);
    selection.account.add(-bytes);
    const inbox = this.#create(request);
    const { userId } = inbox.request;
    const findNext = (roomId: string, { seq }: LogPosition) =>
      findNextJoin(this.#parts.database.db, { roomId, userId, after: seq });
    const findStart = createFindStart(request, positions, findNext);
    try {
      if (!inbox.countRooms(rooms.length)) throw tooManyRooms();
      await forEachOf(rooms, maxOpening, async (room) => {
        await yieldWhenDue();
        request.throwIfCancelled();
        await inbox.open(room.roomId, findStart(room));
      });
      if (!inbox.hasStopped) await this.#memberships.add(inbox, version);
      return inbox;
    } catch (error) {
      inbox.stop(codeOf(error));
      throw error;
    }
  }

  #create({ selection: request, readAt }: InboxRequest): Inbox {
    const { database, feeds, groups, costs, counts, onError } = this.#parts;
    const { userId } = request;
    const inbox: Inbox = new Inbox({
      request,
      readAt,
      source: 'inbox',
      costs,
      counts,
      groups,
      acquire: (roomId) => feeds.acquire(roomId, recentCount),
      release: (roomId) => void feeds.release(roomId).catch(onError),
      findNextJoin: (roomId, after) => this.#findVisibleJoin({ roomId, userId, after: after.seq }),
      findNextLeave: (roomId, after) => findNextLeave(database.db, { roomId, userId, after: after.seq }),
      refresh: (error) => this.#memberships.refresh(inbox, error),
      onEnd: () => this.#remove(inbox),
      onError,
    });
    this.#inboxes.add(inbox);
    return inbox;
  }

  /** Like `findNextJoin`, for a room that the user may see. */
  async #findVisibleJoin(values: AfterPosition): Promise<LogPosition | undefined> {
    const { roomId, userId } = values;
    const { db } = this.#parts.database;
    const joined = await findNextJoin(db, values);
    if (!joined) return undefined;
    const { needsMembership, members } = await findMembersAmong(db, roomId, [userId]);
    return needsMembership && !members.has(userId) ? undefined : joined;
  }

  #remove(inbox: Inbox): void {
    this.#inboxes.delete(inbox);
    this.#memberships.delete(inbox);
  }

  /** Cursors of rooms that were deleted or left are ignored. */
  async #assertOwn({ selection: { userId }, rooms: { rooms } }: InboxRequest, named: Iterable<string>): Promise<void> {
    const joined = new Set(rooms.map(({ roomId }) => roomId));
    const others = [...named].filter((roomId) => !joined.has(roomId));
    if (others.length === 0) return;
    const foreign = await findForeignRooms(this.#parts.database.db, userId, others);
    if (foreign.length > 0)
      throw new ClientError('CURSOR_INVALID', 'A cursor is of a room that you never belonged to.');
  }
}
