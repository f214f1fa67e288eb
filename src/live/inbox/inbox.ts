import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { yieldWhenDue } from '../../common/event-loop.ts';
import type { Database } from '../../data/database/database.ts';
import { findInboxRooms } from '../../data/domain/inbox-rooms.ts';
import { findMembersAmong } from '../../data/domain/memberships.ts';
import { createRoomRow } from '../../data/domain/rooms.ts';
import {
  isReadFailure,
  type LiveExtension,
  type LogPosition,
  type ReadFailure,
  type StreamEvent,
} from '../../data/event-log/events.ts';
import { findMembershipChanges, readUserEvents } from '../../data/event-log/user-events.ts';
import type { RoomRow, UserEventRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { encodeCursor } from '../cursor.ts';
import type { Feed } from '../feed/feed.ts';
import type { Feeds } from '../feed/feeds.ts';
import { Follower, type Following } from '../groups/follower.ts';
import type { Groups } from '../groups/groups.ts';
import { LiveStream, type LiveStreamParts } from '../live-stream.ts';
import { EncodedEvent, personal, type StreamMessage } from '../stream.ts';
import { type InboxSelection, inboxRoomBytes, maxInboxRooms, tooManyRooms } from './inbox-request.ts';
import { type Cursors, cursorExpired, type InboxPositions } from './positions.ts';

export interface InboxParts extends LiveStreamParts<InboxSelection> {
  positions: InboxPositions;
  database: Database;
  feeds: Feeds;
  groups: Groups;
}

/** The end of a membership that its room's follower has not reached yet. */
interface Ending {
  /** The position before the MemberLeft. */
  position: LogPosition;
  /** When events before the MemberLeft are left out if the room is private, by performance.now(). */
  until: number;
  /** Whether the client does not get all events before the MemberLeft. */
  hasGap: boolean;
  /** Whether the client was away when the membership ended. */
  wasAway: boolean;
  /** Called with true when the follower has stopped before the MemberLeft, or has been removed. */
  resolve: (isReached: boolean) => void;
}

/** An inbox opens many feeds, most of which are quiet: they must not take much memory. */
const recentCount = 8;
/** The maximum number of rooms that read from the log at the same time. */
const maxRoomsReading = 4;
/** The number of events in one read of the user's log. */
const chunkLength = 64;
/** How long the last events of a private room are sent after the end of the membership was found, in milliseconds. */
const maxEndMs = 2_000;
/** How long a message whose cursors have become old waits until it is executed again, in milliseconds. */
const maxPauseMs = 50;

/**
 * One stream of the events of all rooms of a user. It follows the user's log: an event there begins or ends a room, whose
 * log it follows from, or up to, the position that the event names. The events of the user's log are applied one after the
 * other.
 */
export class Inbox extends LiveStream<InboxParts> implements Following {
  readonly #positions: InboxPositions;
  /** By room: those of the event that is being applied, and of later events that were found already. */
  readonly #endings = new Map<string, Ending>();
  /** The rooms that wait to read from the log, in order. */
  readonly #behind = new Set<Follower>();
  #roomsReading = 0;
  readonly #reading = new CoalescedWork(() => this.#readUserLog().catch(this.parts.onError));
  readonly #findingEndings = new CoalescedWork(() => this.#findEndings().catch(this.parts.onError));
  /** What has not sent all its events of the past. */
  readonly #replaying = new Set<Follower | 'user log'>();
  #roomCount = 0;

  constructor(parts: InboxParts) {
    super(parts);
    this.isReplaying = parts.request.isResumed;
    this.#positions = parts.positions;
  }

  /** In the user's log. */
  get position(): LogPosition {
    return this.#positions.user;
  }

  get leavingUserId(): string {
    return this.request.userId;
  }

  /** The cursors of the rooms, by id. */
  get cursor(): Cursors {
    return this.#positions.cursors;
  }

  get userCursor(): Cursors {
    return this.#positions.userCursorAt(this.position);
  }

  /** Opens a room that the stream follows from its start. Returns undefined if the room is deleted. @throws any error of `findPosition`. */
  async open(roomId: string, findPosition: (feed: Feed) => Promise<LogPosition>): Promise<Follower | undefined> {
    if (this.hasStopped) return undefined;
    const feed = await this.parts.feeds.acquire(roomId, recentCount);
    let follower: Follower | undefined;
    try {
      follower = await this.#follow(feed, findPosition);
      return follower;
    } finally {
      if (!follower) this.parts.feeds.release(roomId);
    }
  }

  /** There may be new events in the user's log. `mayHaveLeft`: and the user may have left a room. */
  wake({ mayHaveLeft }: { mayHaveLeft: boolean }): void {
    if (mayHaveLeft) void this.#findingEndings.request();
    void this.#reading.request();
  }

  /** Applies the events of the user's log. A failure loses nothing: the position does not change, and the next comparison tries again. */
  async #readUserLog(): Promise<void> {
    while (this.sink) {
      const events = await this.#readNext(chunkLength);
      if (events.length === 0) return this.onLive('user log');
      for (const event of events) {
        await yieldWhenDue();
        const isDone = this.#positions.isLeftOut(event) || (await this.#apply(event));
        if (!this.sink) return;
        if (!isDone) break;
        this.#positions.user = { seq: event.seq, mark: event.mark };
      }
    }
  }

  /** Reads the next events of the user's log. The stream ends if they cannot be read, or belong to another history than its rooms. */
  async #readNext(length: number): Promise<readonly UserEventRow[]> {
    const events = await readUserEvents(this.parts.database.db, this.request.userId, this.position, length);
    if (isReadFailure(events)) await this.#expire();
    else if (this.#positions.isInHistoryOf(events)) return events;
    // Its client resumes with its own cursors, which may all be valid.
    else this.disconnect('SERVICE_UNAVAILABLE');
    return [];
  }

  /** Finds the rooms that end with later events of the user's log, while an earlier event waits for the client. */
  async #findEndings(): Promise<void> {
    if (!this.sink || !this.#reading.running) return;
    const changes = { userId: this.request.userId, after: this.position.seq, upTo: Number.MAX_SAFE_INTEGER };
    for (const event of await findMembershipChanges(this.parts.database.checks, changes)) {
      const { type, seq, roomId, roomSeq, roomMark } = event;
      const isAhead = type === 'MemberLeft' && seq > this.position.seq && this.#positions.followers.has(roomId);
      if (isAhead) this.#addEnding(roomId, { seq: roomSeq, mark: roomMark });
    }
  }

  /** Ends the stream if the database has another history, in which the user may be no member of a room. */
  async checkHistory(): Promise<void> {
    await this.#readNext(1);
    // The events that they wait for may be lost: the log is read again.
    for (const { resolve } of this.#endings.values()) resolve(false);
    this.#endings.clear();
  }

  /** Counts the rooms for the client. Returns false, and changes nothing, if all its inboxes would have too many. */
  countRooms(count: number): boolean {
    const { account } = this.request;
    const total = account.inboxRooms - this.#roomCount + count;
    if (total > maxInboxRooms) return false;
    account.inboxRooms = total;
    this.#roomCount = count;
    return true;
  }

  follows(roomId: string): boolean {
    return this.#positions.followers.has(roomId);
  }

  catchUp(follower: Follower): void {
    this.#behind.add(follower);
    this.#readRooms();
  }

  onLive(part: Follower | 'user log'): void {
    if (this.#replaying.delete(part) && this.#replaying.size === 0) this.endReplay();
  }

  skipTo({ feed, position }: Follower): LogPosition | undefined {
    const ending = this.#endings.get(feed.roomId);
    if (!ending || feed.room?.visibility !== 'PRIVATE') return undefined;
    if (performance.now() < ending.until || position.seq >= ending.position.seq) return undefined;
    ending.hasGap = true;
    return ending.position;
  }

  onStopped({ feed }: Follower): void {
    this.#endings.get(feed.roomId)?.resolve(true);
  }

  onDeleted(follower: Follower): void {
    // The event in the user's log sends it again.
    this.#sendDeletion(follower).catch(this.parts.onError);
  }

  onUnreadable({ feed }: Follower, failure: ReadFailure): void {
    this.#endUnreadable(failure, feed.roomId);
  }

  endAsSlowConsumer(message: StreamMessage): void {
    this.#endUnreadable('trimmed', message instanceof EncodedEvent ? message.roomId : undefined);
  }

  protected begin(): void {
    // A new stream gets all events live. A resumed stream gets the events before `feed.head` as a replay.
    const { isResumed } = this.request;
    void this.#forEachRoom((follower) => this.#join(follower, isResumed ? follower.feed.head : follower.position));
    if (isResumed)
      for (const part of ['user log' as const, ...this.#positions.followers.values()]) this.#replaying.add(part);
    this.wake({ mayHaveLeft: false });
  }

  /** Without a sink the rooms send nothing any more, so that they may leave their groups one after the other. */
  protected override release(): void {
    this.countRooms(0);
    void this.#forEachRoom((follower) => this.#remove(follower));
  }

  /** There may be a thousand rooms, which must not block the event loop. */
  async #forEachRoom(work: (follower: Follower) => void): Promise<void> {
    for (const follower of [...this.#positions.followers.values()]) {
      await yieldWhenDue();
      work(follower);
    }
  }

  /** Some of the rooms read at a time, while the client reads. */
  readonly #readRooms = (): void => {
    for (const follower of this.#behind) {
      if (this.#roomsReading >= maxRoomsReading) return;
      if (this.sink?.isFull()) return this.waitUntilDrained(this.#readRooms);
      this.#behind.delete(follower);
      this.#roomsReading += 1;
      this.#readRoom(follower).catch((error) => this.fail(error));
    }
  };

  async #readRoom(follower: Follower): Promise<void> {
    try {
      await yieldWhenDue();
      if (!(await follower.readOn())) this.#behind.add(follower);
    } finally {
      this.#roomsReading -= 1;
    }
    this.#readRooms();
  }

  /** What the stream has to send cannot be read any more. */
  async #expire(room?: string): Promise<void> {
    const { request } = this;
    const rooms = await findInboxRooms(this.parts.database.db, request.userId, maxInboxRooms);
    this.end(this.sink ? cursorExpired(room, { rooms, selection: request }) : new ClientError('SERVICE_UNAVAILABLE'));
  }

  /** Returns false if the database was found rewound: the event may be lost, and the log is read again. */
  async #apply(event: UserEventRow): Promise<boolean> {
    if (event.type === 'MemberLeft') return this.#leave(event);
    if (event.type === 'MemberJoined') await this.#enter(event);
    if (event.type === 'RoomDeleted') await this.#endDeleted(event);
    if (event.type === 'RoomRead') await this.#sendRoomRead(event);
    return true;
  }

  /** The user has joined a room. */
  async #enter({ roomId, roomSeq, roomMark }: UserEventRow): Promise<void> {
    if (this.#positions.followers.has(roomId)) return;
    const known = this.#positions.clientPositions.get(roomId);
    const start = known && known.seq >= roomSeq ? known : { seq: roomSeq, mark: roomMark };
    if (start !== known) this.#positions.unsentStarts.set(roomId, start);
    // The membership may have ended since: the content of a private room is not sent any more.
    if (!(await this.#maySee(roomId))) return;
    if (!this.countRooms(this.#positions.followers.size + 1)) return this.end(tooManyRooms());
    const follower = await this.open(roomId, async (feed) => {
      await this.#expireIfUnreadable(feed, start);
      return start;
    });
    if (follower) this.#join(follower, follower.feed.head);
    // It is deleted, which its client may have been told without the position in the user's log.
    else this.#positions.unsentStarts.delete(roomId);
  }

  /** The user has left a room. */
  async #leave(event: UserEventRow): Promise<boolean> {
    const { roomId, roomSeq, roomMark } = event;
    const last = { seq: roomSeq, mark: roomMark };
    const isFollowed = this.#positions.followers.has(roomId);
    const position = this.#positions.of(roomId);
    // Its client does not know the room, or has received the event.
    if (!position || position.seq > last.seq) return true;
    const maySee = await this.#maySee(roomId);
    const follower =
      this.#positions.followers.get(roomId) ??
      (await this.open(roomId, async (feed) => {
        await this.#expireIfUnreadable(feed, position, maySee);
        return maySee ? position : last;
      }));
    if (!this.sink) return true;
    if (!follower) {
      // It was deleted since.
      await this.#endDeleted(event);
      return true;
    }
    const ending = this.#addEnding(roomId, last);
    if (!isFollowed) ending.wasAway = true;
    if (position.seq < follower.position.seq && !isFollowed) ending.hasGap = true;
    const isReached = await this.#reachEnd(follower, ending);
    if (isReached) await this.#sendLeft(follower, ending, event);
    this.#endings.delete(roomId);
    return isReached;
  }

  /** Ends the stream if a position is of a lost history, or if the events after it are to be sent and are trimmed. */
  async #expireIfUnreadable(feed: Feed, position: LogPosition, isRead = true): Promise<void> {
    const found = await feed.read(position, 1);
    const isExpired = found === 'rewound' || (isRead && found === 'trimmed');
    if (isExpired && !feed.deleted) await this.#expire(feed.roomId);
  }

  #addEnding(roomId: string, last: LogPosition): Ending {
    // A client that does not read would get the events later, with the content of that time.
    const until = this.sink?.isFull() ? 0 : performance.now() + maxEndMs;
    const ending = this.#endings.get(roomId) ?? { position: last, until, hasGap: false, wasAway: false, resolve() {} };
    this.#endings.set(roomId, ending);
    return ending;
  }

  /** Resolves with false if the database has another history, in which there may be no end. */
  async #reachEnd(follower: Follower, ending: Ending): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    ending.resolve = resolve;
    // It may have stopped before, or at the end of an earlier membership.
    if (follower.group) this.catchUp(follower);
    else this.#join(follower, follower.feed.head);
    const isReached = follower.position.seq >= ending.position.seq || !this.#isOpen(follower) || (await promise);
    if (follower.position.seq < ending.position.seq) ending.hasGap = true;
    return isReached;
  }

  /** The user may not be a member any more: nothing of a private room is shown, and to a client that was away not even its name. */
  async #sendLeft(follower: Follower, ending: Ending, event: UserEventRow): Promise<void> {
    const { feed } = follower;
    if (!this.#isOpen(follower)) return;
    if (feed.head.seq <= ending.position.seq) await feed.syncWithLog();
    const events = await feed.read(ending.position, 1);
    if (!this.#isOpen(follower) || feed.deleted) return;
    const { position } = follower;
    const isRewound = position.seq === ending.position.seq && position.mark !== ending.position.mark;
    if (isRewound || isReadFailure(events)) return this.#expire(feed.roomId);
    const [left] = events;
    // The database has another history, or an earlier program has deleted the room.
    if (left?.type !== 'MemberLeft' || left.subjectId !== this.request.userId) return feed.syncWithLog();
    const maySee = await this.#maySee(feed.roomId);
    const gap = ending.hasGap ? { gap: true as const } : {};
    await this.#send(event, [], (live) => {
      if (!this.#isOpen(follower)) return undefined;
      const { room = createRoomShell(feed.roomId, 'private room', event.at) } = ending.wasAway ? {} : feed;
      const shown = !maySee || feed.room?.visibility === 'PRIVATE' ? { ...room, isClosed: true as const } : feed.room;
      return { ...left, room: shown, live: { ended: true, ...gap, ...live } };
    });
    this.#remove(follower);
  }

  /** A room was deleted. */
  async #endDeleted(event: UserEventRow): Promise<void> {
    const { roomId, at } = event;
    const follower = this.#positions.followers.get(roomId);
    if (follower) {
      // The feed finds that out, and then the room ends for all who follow it.
      await follower.feed.syncWithLog();
      return this.#sendDeletion(follower);
    }
    this.#positions.unsentStarts.delete(roomId);
    const known = this.#positions.clientPositions.get(roomId);
    if (!known) return;
    const room = createRoomShell(roomId, 'deleted room', at);
    const deleted = { type: 'RoomDeleted', roomId, subjectId: roomId, version: 0, actorId: null, at } as const;
    await this.#send(event, [], (live) => ({ ...known, ...deleted, previousMark: 0, room, live }));
    this.#positions.clientPositions.delete(roomId);
  }

  /** The cursor of its room must be that of the latest event that was sent, or the client would resume from an earlier one. */
  async #sendRoomRead(event: UserEventRow): Promise<void> {
    const { roomId, at } = event;
    const subject = {
      type: 'RoomRead',
      roomId,
      subjectId: roomId,
      version: 0,
      actorId: this.request.userId,
      at,
    } as const;
    await this.#send(event, [roomId], (live) => {
      const follower = this.#endings.has(roomId) ? undefined : this.#positions.followers.get(roomId);
      // The room may have been deleted meanwhile.
      return follower && { ...follower.position, ...subject, previousMark: 0, room: follower.feed.room, live };
    });
  }

  /**
   * Sends an event that moves the position in the user's log. Its message also has the cursors of rooms of which the client may
   * have none, and of `rooms`, as they are when it is written.
   */
  async #send(
    { roomId, seq, mark }: UserEventRow,
    rooms: readonly string[],
    create: (live: LiveExtension) => StreamEvent | undefined,
  ): Promise<void> {
    const findCursors = () => ({
      ...this.#positions.cursorsOf([...this.#positions.findUnsent(roomId), ...rooms]),
      ...this.#positions.userCursorAt({ seq, mark }),
    });
    for (let pauseMs = 0; ; pauseMs = Math.min(pauseMs + 1, maxPauseMs)) {
      while (this.sink?.isFull()) await new Promise<void>((resolve) => this.waitUntilDrained(resolve));
      const cursors = findCursors();
      const event = create({ cursors });
      if (!event || !this.sink) return;
      const encoded = await this.request.executePersonal(event);
      // The room may have ended during the execution.
      if (!encoded || encoded === personal || !create({})) return;
      if (isDeepStrictEqual(findCursors(), cursors)) return this.sink?.write(encoded);
      await wait(pauseMs);
    }
  }

  async #maySee(roomId: string): Promise<boolean> {
    const { userId } = this.request;
    const { needsMembership, members } = await findMembersAmong(this.parts.database.db, roomId, [userId]);
    return !needsMembership || members.has(userId);
  }

  #isOpen(follower: Follower): boolean {
    return this.sink !== undefined && this.#positions.followers.get(follower.feed.roomId) === follower;
  }

  async #follow(feed: Feed, findPosition: (feed: Feed) => Promise<LogPosition>): Promise<Follower | undefined> {
    if (feed.deleted) return undefined;
    const position = await findPosition(feed);
    const { head } = feed;
    // Rooms at the same position share the object.
    const isAtHead = position.seq === head.seq && position.mark === head.mark;
    const follower = new Follower(this, feed, isAtHead ? head : position);
    if (this.hasStopped || feed.deleted) return undefined;
    this.#positions.followers.set(feed.roomId, follower);
    this.#positions.clientPositions.delete(feed.roomId);
    this.request.account.add(inboxRoomBytes);
    return follower;
  }

  #join(follower: Follower, groupPosition: LogPosition): void {
    if (!this.#isOpen(follower) || follower.group) return;
    if (this.isReplaying) this.#replaying.add(follower);
    follower.enter(this.parts.groups.findOrCreate(follower.feed, this.request, groupPosition));
  }

  #remove(follower: Follower): void {
    const { roomId } = follower.feed;
    if (this.#positions.followers.get(roomId) !== follower) return;
    this.#positions.followers.delete(roomId);
    this.#positions.unsentStarts.delete(roomId);
    if (this.sink) this.countRooms(this.#positions.followers.size);
    this.#behind.delete(follower);
    follower.leave();
    this.request.account.add(-inboxRoomBytes);
    this.parts.feeds.release(roomId);
    this.#endings.get(roomId)?.resolve(true);
    this.#endings.delete(roomId);
    this.onLive(follower);
  }

  async #sendDeletion(follower: Follower): Promise<void> {
    const { group } = follower;
    // It is sent when the follower enters its group.
    if (!group || !follower.feed.deleted) return;
    const encoded = await group.executeDeletion();
    // If the selection is personal, the follower has moved to another group, which executes it again.
    if (encoded === personal || follower.group !== group) return;
    const { sink } = this;
    this.#remove(follower);
    if (encoded) sink?.write(encoded);
  }

  #endUnreadable(failure: ReadFailure, room?: string): void {
    // Before it begins it may not have all rooms: its client asks again, with its own cursors.
    if (!this.sink) return this.end(new ClientError('SERVICE_UNAVAILABLE'));
    // A former member must not learn the present cursor of a room.
    const rooms = [...this.#positions.followers.values()].filter(({ feed }) => !this.#endings.has(feed.roomId));
    const present = Object.fromEntries(rooms.map(({ feed }) => [feed.roomId, feed.cursor]));
    const known = [...this.#positions.clientPositions].map(([roomId, position]) => [
      roomId,
      encodeCursor({ roomId, ...position }),
    ]);
    const cursors = { ...Object.fromEntries(known), ...present, ...this.userCursor };
    const code = failure === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER';
    this.end(new ClientError(code, undefined, { live: { ...(room !== undefined && { room }), cursors } }));
  }
}

/** A room of which a client that was away learns no more than the id. */
function createRoomShell(id: string, name: string, at: number): RoomRow {
  return { ...createRoomRow({ id, name, visibility: 'PRIVATE' }), createdAt: at, updatedAt: at };
}
