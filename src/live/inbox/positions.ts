import type { LogPosition } from '../../data/event-log/events.ts';
import { encodeCursor } from '../cursor.ts';
import type { Follower } from '../groups/follower.ts';

/** By the id of a room or of the user. */
export type Cursors = Record<string, string>;

/** The positions of an inbox in the log of its user and in the rooms: from there its client can resume. */
export class InboxPositions {
  readonly #userId: string;
  /** In the user's log. */
  user: LogPosition;
  /** The rooms that the inbox follows. */
  readonly followed = new Map<string, Follower>();
  /** Those of its client in rooms that the inbox does not follow, until the user's log says how they go on. */
  readonly client: Map<string, LogPosition>;
  /** The rooms that have begun, with their starts: until they send an event, the client has no cursor of them. */
  readonly unsentStarts = new Map<string, LogPosition>();

  constructor(userId: string, user: LogPosition, client: Map<string, LogPosition>) {
    this.#userId = userId;
    this.user = user;
    this.client = client;
  }

  /** The position in a room up to which the client has everything, or from which it gets everything. */
  of(roomId: string): LogPosition | undefined {
    return this.followed.get(roomId)?.position ?? this.unsentStarts.get(roomId) ?? this.client.get(roomId);
  }

  /** Those of all rooms. */
  get cursors(): Cursors {
    return this.cursorsOf([...this.client.keys(), ...this.followed.keys()]);
  }

  cursorsOf(roomIds: Iterable<string>): Cursors {
    const cursors: Cursors = {};
    for (const roomId of roomIds) {
      const position = this.of(roomId);
      if (position) cursors[roomId] = encodeCursor({ roomId, ...position });
    }
    return cursors;
  }

  userCursorAt(position: LogPosition): Cursors {
    return { [this.#userId]: encodeCursor({ roomId: this.#userId, ...position }) };
  }

  /** The rooms other than `ended` that have begun and have sent nothing since. */
  findUnsent(ended: string): string[] {
    this.unsentStarts.delete(ended);
    for (const [roomId, { seq }] of this.unsentStarts) {
      if ((this.followed.get(roomId)?.position.seq ?? 0) > seq) this.unsentStarts.delete(roomId);
    }
    return [...this.unsentStarts.keys()];
  }
}
