import { yieldWhenDue } from '../../common/event-loop.ts';
import type { InboxRoom } from '../../data/domain/inbox-rooms.ts';
import type { LogPosition } from '../../data/event-log/events.ts';
import { ClientError } from '../../errors.ts';
import { EncodedEvent } from '../encoded-event.ts';
import type { Feed } from '../feed/feed.ts';
import type { ReadFailure } from '../feed/room-log.ts';
import { Follower, type Following } from '../groups/follower.ts';
import type { Groups } from '../groups/groups.ts';
import { LiveStream, type LiveStreamParts } from '../live-stream.ts';
import type { StreamMessage } from '../stream.ts';
import { personal } from '../subscribe-request.ts';
import { CatchUps } from './catch-ups.ts';
import { FormerRooms } from './former-rooms.ts';
import { type InboxSelection, inboxRoomBytes, maxInboxRooms, tooManyRooms } from './inbox-request.ts';
import { LeavingRooms } from './leaving-rooms.ts';
import { PendingRoomReads } from './pending-room-reads.ts';
import { type FindNext, type FindStart, findJoined } from './start.ts';

export interface InboxParts extends LiveStreamParts<InboxSelection> {
  /** When the rooms that it is opened with had been read, by performance.now(). */
  readAt: number;
  groups: Groups;
  acquire: (roomId: string) => Promise<Feed>;
  release: (roomId: string) => void;
  /** Finds only rooms that the user may see. */
  findNextJoin: FindNext;
  /** Finds the position before the user's next MemberLeft in a room. */
  findNextLeave: FindNext;
  /** Reads the user's rooms again and passes them to `update`: soon, or, after an error, later. */
  refresh: (error?: unknown) => void;
}

/** One stream of the events of all rooms of a user. Rooms enter and leave it while it is live. */
export class Inbox extends LiveStream<InboxSelection> implements Following {
  readonly #parts: InboxParts;
  readonly #rooms = new Map<string, Follower>();
  /** The rooms that are being opened. */
  readonly #opening = new Set<string>();
  readonly #leaving: LeavingRooms;
  readonly #former: FormerRooms;
  /** Rooms that were read before this time may contain a room that the user has left since; by performance.now(). */
  #validFrom: number;
  readonly #catchUps = new CatchUps(this);
  readonly #roomReads: PendingRoomReads;
  #roomCount = 0;

  constructor(parts: InboxParts) {
    super(parts);
    this.#parts = parts;
    this.#validFrom = parts.readAt;
    this.#leaving = new LeavingRooms(parts.findNextLeave);
    this.#former = new FormerRooms(parts.findNextJoin);
    this.#roomReads = new PendingRoomReads(this, parts.refresh);
  }

  /** The cursors of the rooms, by id. */
  get cursor(): Record<string, string> {
    return Object.fromEntries(this.#rooms.values().map(({ feed, cursor }) => [feed.roomId, cursor]));
  }

  /** Opens a room that the stream follows from its start. @throws any error of `findStart`. */
  async open(roomId: string, findStart: FindStart): Promise<Follower | undefined> {
    if (this.hasStopped || this.#rooms.has(roomId) || this.#opening.has(roomId)) return undefined;
    this.#opening.add(roomId);
    try {
      const feed = await this.#parts.acquire(roomId);
      const follower = await this.#follow(feed, () => findStart(feed)).catch((error) => {
        this.#parts.release(roomId);
        throw error;
      });
      if (!follower) this.#parts.release(roomId);
      return follower;
    } finally {
      this.#opening.delete(roomId);
    }
  }

  /**
   * Rooms that the user has joined enter, and rooms that the user has left end with the user's MemberLeft. `startedAt`: when
   * the read of the rooms was started, by performance.now(). Returns false if they must be read again.
   */
  update(rooms: readonly InboxRoom[], startedAt: number): boolean {
    if (startedAt < this.#validFrom) return false;
    if (this.hasStopped) return true;
    if (!this.countRooms(rooms.length)) this.end(tooManyRooms());
    else this.#update(rooms);
    this.#roomReads.start();
    return true;
  }

  #update(rooms: readonly InboxRoom[]): void {
    const joined = new Set(rooms.map(({ roomId }) => roomId));
    for (const roomId of [...this.#rooms.keys(), ...this.#opening]) {
      if (joined.has(roomId)) this.#leaving.delete(roomId);
      else if (!this.#leaving.has(roomId) || this.#rooms.get(roomId)?.feed.deleted) this.#endLater(roomId);
    }
    for (const room of rooms) {
      if (!this.#rooms.has(room.roomId)) this.#enter(room).catch(this.#parts.refresh);
    }
    for (const roomId of this.#former.takeUnchecked()) {
      if (!joined.has(roomId)) this.#enterEnded(roomId).catch(this.#parts.refresh);
    }
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
    return this.#rooms.has(roomId);
  }

  findRoom(roomId: string): Follower | undefined {
    return this.#leaving.has(roomId) ? undefined : this.#rooms.get(roomId);
  }

  /** The database has another history, in which the user is no member of the room: no event says that it ends. */
  lose(roomId: string): void {
    const follower = this.#rooms.get(roomId);
    if (!follower) return;
    this.#remove(follower);
    this.#endUnreadable('CURSOR_EXPIRED', roomId);
  }

  /** The user has read a room, perhaps on another device. */
  markRead(roomId: string): void {
    this.#roomReads.add(roomId);
  }

  catchUp(follower: Follower): void {
    if (!this.#leaving.endsAtOnce(follower.feed.roomId)) return this.#catchUps.add(follower);
    // Other rooms must not delay it.
    follower.readOn().then(
      // The user has joined the room again meanwhile.
      (isDone) => isDone || this.#catchUps.add(follower),
      (error) => this.fail(error),
    );
  }

  isBlocked({ feed }: Follower): boolean {
    return !this.#leaving.endsAtOnce(feed.roomId) && (this.sink?.isFull() ?? false);
  }

  isLeaving({ feed }: Follower): boolean {
    return this.#leaving.endsAtHead(feed.roomId);
  }

  skipTo({ feed }: Follower): LogPosition | undefined {
    return this.#leaving.skipTo(feed, this.sink);
  }

  onLeft(follower: Follower, userId: string): void {
    if (userId !== this.request.userId) return;
    this.#remove(follower);
    // The user may have joined the room again since.
    this.#former.check(follower.feed.roomId);
    this.#readRoomsAgain();
  }

  onEnded({ feed }: Follower): void {
    // The user's MemberLeft was not sent: the log does not have it, or the room has become private since.
    if (!feed.deleted) this.#endUnreadable('SLOW_CONSUMER', feed.roomId);
  }

  onDeleted(follower: Follower): void {
    // A deleted room is not among the rooms that are read again: its event is then sent again.
    this.#sendDeletion(follower).catch(this.#parts.refresh);
  }

  onUnreadable({ feed }: Follower, failure: ReadFailure): void {
    this.#endUnreadable(failure === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER', feed.roomId);
  }

  endAsSlowConsumer(message: StreamMessage): void {
    this.#endUnreadable('SLOW_CONSUMER', message instanceof EncodedEvent ? message.roomId : undefined);
  }

  protected begin(): void {
    // A new stream gets all events live. A resumed stream gets the events before `feed.head` as a replay.
    const { isResumed } = this.request;
    void this.#forEachRoom((follower) => this.#join(follower, isResumed ? follower.feed.head : follower.position));
  }

  /** Without a sink the rooms send nothing any more, so that they may leave their groups one after the other. */
  protected override release(): void {
    this.countRooms(0);
    void this.#forEachRoom((follower) => this.#remove(follower));
  }

  /** There may be a thousand rooms, which must not block the event loop. */
  async #forEachRoom(work: (follower: Follower) => void): Promise<void> {
    for (const follower of [...this.#rooms.values()]) {
      await yieldWhenDue();
      work(follower);
    }
  }

  /** The rooms that are being read may be out of date. */
  #readRoomsAgain(): void {
    this.#validFrom = performance.now();
    this.#parts.refresh();
  }

  /** Opens a room that the user has joined while the stream is live, or has joined again since it ended. */
  async #enter({ roomId, joined }: Pick<InboxRoom, 'roomId' | 'joined'>): Promise<void> {
    const follower = await this.open(roomId, async (feed) =>
      findJoined(feed, (await this.#former.findNextJoin(roomId)) ?? joined),
    );
    if (follower && this.sink) this.#join(follower, follower.feed.head);
  }

  /** Opens a room for a membership that has ended since. */
  async #enterEnded(roomId: string): Promise<void> {
    const joined = await this.#former.findNextJoin(roomId);
    if (!joined) return;
    await this.#enter({ roomId, joined });
    this.#readRoomsAgain();
  }

  async #follow(feed: Feed, findPosition: () => Promise<LogPosition>): Promise<Follower | undefined> {
    if (feed.deleted) return undefined;
    const position = await findPosition();
    const { head } = feed;
    // Rooms at the same position share the object.
    const isAtHead = position.seq === head.seq && position.mark === head.mark;
    const follower = new Follower(this, feed, isAtHead ? head : position);
    if (this.hasStopped) return undefined;
    this.#rooms.set(feed.roomId, follower);
    this.request.account.add(inboxRoomBytes);
    return follower;
  }

  #join(follower: Follower, groupPosition: LogPosition): void {
    const { groups } = this.#parts;
    const isOpen = this.sink !== undefined && this.#rooms.get(follower.feed.roomId) === follower;
    if (!isOpen || follower.group) return;
    follower.enter(groups.findOrCreate(follower.feed, this.request, groupPosition));
    // The user may have left it while it was being opened.
    if (this.#leaving.has(follower.feed.roomId)) this.#endLater(follower.feed.roomId);
  }

  /** The room ends with the user's MemberLeft or, if the log does not have it, with the latest event. */
  #endLater(roomId: string): void {
    const follower = this.#rooms.get(roomId);
    if (!follower) return this.#leaving.addUnopened(roomId);
    if (follower.feed.deleted) return this.onDeleted(follower);
    this.#leaving
      .add(follower.feed, follower.position)
      .then(
        (isEnding) => isEnding && !follower.feed.deleted && follower.fallBehind(follower.position),
        this.#parts.refresh,
      );
  }

  #remove(follower: Follower): void {
    const { roomId } = follower.feed;
    if (this.#rooms.get(roomId) !== follower) return;
    this.#rooms.delete(roomId);
    this.#leaving.delete(roomId);
    this.#former.add(roomId, follower.position);
    this.#catchUps.delete(follower);
    follower.leave();
    this.request.account.add(-inboxRoomBytes);
    this.#parts.release(roomId);
  }

  async #sendDeletion(follower: Follower): Promise<void> {
    const { group } = follower;
    // It is sent when the follower enters its group.
    if (!group) return;
    const encoded = await group.executeDeletion();
    // If the selection is personal, the follower has moved to another group, which executes it again.
    if (encoded === personal || follower.group !== group) return;
    const { sink } = this;
    this.#remove(follower);
    if (encoded) sink?.write(encoded);
  }

  #endUnreadable(code: 'CURSOR_EXPIRED' | 'SLOW_CONSUMER', room?: string): void {
    // Before it begins it may not have all rooms: its client asks again, with its own cursors.
    if (!this.sink) return this.end(new ClientError('SERVICE_UNAVAILABLE'));
    // A former member must not learn the present cursor of a room.
    const rooms = [...this.#rooms.values()].filter(({ feed }) => !this.#leaving.has(feed.roomId));
    const cursors = Object.fromEntries(rooms.map(({ feed }) => [feed.roomId, feed.cursor]));
    this.end(new ClientError(code, undefined, { live: { ...(room !== undefined && { room }), cursors } }));
  }
}
