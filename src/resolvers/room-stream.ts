import type { LogPosition, RoomEvent } from '../data/events.ts';
import type { Context } from '../engine/context.ts';

export interface RoomStreamOptions {
  roomId: string;
  after: string | null | undefined;
  /** The end of the room's log when the room was found. */
  head: LogPosition;
  /** Maps an event to the subscription's root value; undefined leaves the event out. */
  project: (event: RoomEvent, context: Context) => unknown;
}

/** The result of a subscription's resolver: the room, the cursor to resume after, and the mapping of its events. */
export class RoomStream implements AsyncIterable<never> {
  readonly roomId: string;
  readonly after: string | undefined;
  readonly head: LogPosition;
  readonly project: RoomStreamOptions['project'];

  constructor({ roomId, after, head, project }: RoomStreamOptions) {
    this.roomId = roomId;
    this.after = after ?? undefined;
    this.head = head;
    this.project = project;
  }

  /** graphql requires an iterable. The events themselves are delivered by the fan-out, once for many subscribers. */
  [Symbol.asyncIterator](): never {
    throw new Error('A room stream is read by the fan-out.');
  }
}
