import { setImmediate } from 'node:timers/promises';
import { yieldWhenDue } from '../../common/event-loop.ts';
import { isReadFailure, type LogPosition, type ReadFailure, type RoomEvent } from '../../data/event-log/events.ts';
import { encodeCursor } from '../cursor.ts';
import type { Feed } from '../feed/feed.ts';
import { chunkLength } from '../feed/room-log.ts';
import type { LiveCounts } from '../live-counts.ts';
import { type EncodedEvent, personal, type Selection, type Sink } from '../stream.ts';
import type { Group, Member } from './groups.ts';

/** A stream that sends the events of one room or of many: one follower for each room. */
export interface Following {
  readonly request: Selection;
  readonly counts: LiveCounts;
  /** Undefined before the start and after the end. */
  readonly sink: Sink | undefined;
  /** Calls `readOn` of the follower, at once or later. */
  catchUp(follower: Follower): void;
  /** The follower has sent all events of the past. */
  onLive(follower: Follower): void;
  /** The user whose `MemberLeft` is not sent: the follower stops before it. */
  readonly leavingUserId?: string;
  /** The follower has stopped before that event. */
  onStopped?(follower: Follower): void;
  /** The position up to which events of the past are left out, because the viewer has lost access to the room. */
  skipTo?(follower: Follower): LogPosition | undefined;
  /** The room was deleted. */
  onDeleted(follower: Follower): void;
  /** The events after the follower's position cannot be read. */
  onUnreadable(follower: Follower, failure: ReadFailure): void;
  /** The selection is personal: the stream counts for its viewer from now on. Returns false if that ends the stream. */
  becomePersonal(): boolean;
}

/** The generation of a position that has not been checked. */
const unchecked = -1;

/** The events after a position that was checked in this generation of the feed. */
export interface FirstRead {
  generation: number;
  events: readonly RoomEvent[];
}

/**
 * The position of one stream in one room. A live follower receives the events that its group sends. A follower that has
 * fallen behind reads the log at its own pace, then becomes live again. `position` only increases, and only events after
 * it are sent: each once, in order. An inbox has one for each of its rooms, so it must be small.
 */
export class Follower implements Member {
  readonly stream: Following;
  readonly feed: Feed;
  /** The position of the latest event that was sent, or that the selection left out. */
  position: LogPosition;
  group: Group | undefined = undefined;
  #isReading = false;
  /** The feed's generation in which the position was last found in the log. */
  #generation = unchecked;
  /** Until it is used. */
  #firstRead: FirstRead | undefined;

  constructor(stream: Following, feed: Feed, position: LogPosition, firstRead?: FirstRead) {
    this.stream = stream;
    this.feed = feed;
    this.position = position;
    this.#firstRead = firstRead;
  }

  /** Its position as a cursor, for the argument `after`. */
  get cursor(): string {
    return encodeCursor({ roomId: this.feed.roomId, ...this.position });
  }

  /** Joins a group, or moves to another group, and keeps its position. */
  enter(group: Group): void {
    this.group?.remove(this);
    this.group = group;
    group.add(this);
    if (this.feed.deleted) this.stream.onDeleted(this);
    else this.stream.catchUp(this);
  }

  /** Receives no more events. */
  leave(): void {
    this.group?.remove(this);
    this.group = undefined;
  }

  deliver(encoded: EncodedEvent): void {
    const { sink } = this.stream;
    if (encoded.position.seq <= this.position.seq || !sink) return;
    try {
      this.#deliver(encoded, sink);
    } catch (error) {
      sink.fail(error);
    }
  }

  #deliver(encoded: EncodedEvent, sink: Sink): void {
    if (encoded.leftBy !== undefined && encoded.leftBy === this.stream.leavingUserId)
      return this.#stopAt(encoded.previous);
    if (sink.isFull()) return this.fallBehind(encoded.previous);
    this.position = encoded.position;
    this.stream.counts.deliveries += 1;
    sink.write(encoded, encoded.at);
  }

  #stopAt(position: LogPosition): void {
    this.advanceTo(position);
    this.group?.fallBehind(this);
    this.stream.onStopped?.(this);
  }

  advanceTo(position: LogPosition): void {
    if (position.seq > this.position.seq) this.position = position;
  }

  /**
   * Stops live delivery at a position and reads on from the log. A slow client does not delay the other members, and uses
   * no memory beyond the bytes that wait on its socket.
   */
  fallBehind(position = this.position): void {
    this.advanceTo(position);
    this.group?.fallBehind(this);
    this.stream.catchUp(this);
  }

  endDeleted(): void {
    this.stream.onDeleted(this);
  }

  becomePersonal(findOrCreateGroup: (selection: Selection) => Group): void {
    if (this.stream.becomePersonal()) this.enter(findOrCreateGroup(this.stream.request));
  }

  /** Reads from the log until it is live again, or stops. Returns false if its client must read first. */
  async readOn(): Promise<boolean> {
    if (this.#isReading) return true;
    this.#isReading = true;
    try {
      while (this.group && this.stream.sink) {
        if (this.stream.sink.isFull()) return false;
        this.#skip();
        const { generation } = this.feed;
        const isFound = this.#generation === generation;
        if (isFound && this.#hasCaughtUp(this.group)) {
          this.group.goLive(this);
          this.stream.onLive(this);
          return true;
        }
        const events = await this.#read(generation);
        if (isReadFailure(events)) {
          // Its stream sends the deletion of the room, also if that was found by this read.
          if (!this.feed.deleted) this.stream.onUnreadable(this, events);
          return true;
        }
        this.#generation = generation;
        // Events that its group has not executed yet arrive live.
        if (!isFound && this.group && this.#hasCaughtUp(this.group)) continue;
        if (!(await this.#replay(events))) return true;
        // Many concurrent readers must not keep the event loop from writing to the sockets.
        await setImmediate();
      }
      return true;
    } finally {
      this.#isReading = false;
    }
  }

  async #read(generation: number): ReturnType<Feed['read']> {
    const first = this.#firstRead;
    this.#firstRead = undefined;
    return first?.generation === generation ? first.events : this.feed.read(this.position, chunkLength);
  }

  #skip(): void {
    const position = this.stream.skipTo?.(this);
    if (position) this.advanceTo(position);
  }

  #hasCaughtUp({ position }: Group): boolean {
    return this.position.seq >= position.seq;
  }

  /** Returns false if it has stopped before an event. */
  async #replay(events: readonly RoomEvent[]): Promise<boolean> {
    for (const event of events) {
      await yieldWhenDue();
      this.#skip();
      if (event.seq <= this.position.seq) continue;
      if (event.type === 'MemberLeft' && event.subjectId === this.stream.leavingUserId) {
        this.#stopAt(this.position);
        return false;
      }
      const encoded = await this.group?.replay(event);
      const { sink } = this.stream;
      if (encoded === undefined || encoded === personal || !this.group || !sink) return true;
      if (this.#generation !== this.feed.generation) return true;
      // The event was sent live during this execution.
      if (event.seq <= this.position.seq) continue;
      this.position = encoded?.position ?? { seq: event.seq, mark: event.mark };
      if (encoded) {
        this.stream.counts.replayed += 1;
        sink.write(encoded);
      }
      if (sink.isFull()) return true;
    }
    return true;
  }
}
