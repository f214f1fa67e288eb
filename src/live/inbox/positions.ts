import type { LogPosition } from '../../data/event-log/events.ts';
import type { UserEventRow } from '../../data/tables.ts';
import { encodeCursor } from '../cursor.ts';
import type { Follower } from '../groups/follower.ts';
import type { InboxStart } from './start.ts';

/** By the id of a room or of the user. */
export type Cursors = Record<string, string>;

/** The positions of an inbox in the log of its user and in the rooms: from there its client can resume. */
export class InboxPositions {
  readonly #userId: string;
  readonly #start: Pick<InboxStart, 'head' | 'filteredUpTo' | 'missed'>;
  /** In the user's log. */
  user: LogPosition;
  /** The rooms that the inbox follows. */
  readonly followers = new Map<string, Follower>();
  /** Those of its client in rooms that the inbox does not follow, until the user's log says how they go on. */
  readonly clientPositions: Map<string, LogPosition>;
  /** The rooms that have begun, with their starts: until they send an event, the client has no cursor of them. */
  readonly unsentStarts = new Map<string, LogPosition>();

  constructor(userId: string, start: Omit<InboxStart, 'rooms'>) {
    this.#userId = userId;
    this.#start = start;
    this.user = start.position;
    this.clientPositions = start.clientPositions;
  }

  /**
   * Whether the user's log still contains what it ended with when the inbox was opened, as far as its next events after
   * `user` show.
   */
  isInHistoryOf(next: readonly UserEventRow[]): boolean {
    const { head } = this.#start;
    if (next.length === 0) return this.user.seq >= head.seq;
    return next.every(({ seq, mark }) => seq !== head.seq || mark === head.mark);
  }

  /** Whether the client has an event of the user's log already. */
  isLeftOut({ seq }: UserEventRow): boolean {
    const { filteredUpTo, missed } = this.#start;
    return seq <= filteredUpTo && !missed.has(seq);
  }

  /** The position in a room up to which the client has everything, or from which it gets everything. */
  of(roomId: string): LogPosition | undefined {
    return this.followers.get(roomId)?.position ?? this.unsentStarts.get(roomId) ?? this.clientPositions.get(roomId);
  }

  /** Those of all rooms. */
  get cursors(): Cursors {
    return this.cursorsOf([...this.clientPositions.keys(), ...this.followers.keys()]);
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

  /** The rooms that have begun and have sent nothing since, except that of the message. */
  findUnsent(exceptRoomId: string): string[] {
    for (const [roomId, { seq }] of this.unsentStarts) {
      if ((this.followers.get(roomId)?.position.seq ?? 0) > seq) this.unsentStarts.delete(roomId);
    }
    return [...this.unsentStarts.keys()].filter((roomId) => roomId !== exceptRoomId);
  }
}
