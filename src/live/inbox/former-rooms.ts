import type { LogPosition } from '../../data/event-log/events.ts';
import { maxInboxRooms } from './inbox-request.ts';
import type { FindNext } from './start.ts';

/** The rooms that have ended in an inbox, as far as they are needed to continue with the user's next membership. */
export class FormerRooms {
  readonly #findNextJoin: FindNext;
  /** The positions at which the latest rooms have ended, in the order in which they have ended. */
  readonly #positions = new Map<string, LogPosition>();
  /** The rooms that the user may have joined, and perhaps left, again. */
  readonly #unchecked = new Set<string>();

  constructor(findNextJoin: FindNext) {
    this.#findNextJoin = findNextJoin;
  }

  add(roomId: string, position: LogPosition): void {
    this.#positions.delete(roomId);
    this.#positions.set(roomId, position);
    const [oldest] = this.#positions.keys();
    if (this.#positions.size <= maxInboxRooms || oldest === undefined) return;
    this.#positions.delete(oldest);
    this.#unchecked.delete(oldest);
  }

  /** The position before the user's next MemberJoined in a room that has ended, if the user may see the room. */
  async findNextJoin(roomId: string): Promise<LogPosition | undefined> {
    const position = this.#positions.get(roomId);
    return position && this.#findNextJoin(roomId, position);
  }

  /** The room has ended with the user's MemberLeft, which may not be the latest. */
  check(roomId: string): void {
    this.#unchecked.add(roomId);
  }

  /** The rooms to be checked: each is returned once. */
  takeUnchecked(): string[] {
    const roomIds = [...this.#unchecked];
    this.#unchecked.clear();
    return roomIds;
  }
}
