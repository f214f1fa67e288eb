import type { LogPosition, RoomEvent } from '../data/events.ts';
import type { Context } from '../engine/context.ts';

export interface RoomStreamOptions {
  roomId: string;
  after: string | null | undefined;
  /** The end of the room's log when the room was found. */
  head: LogPosition;
  /** The event as the subscription's root value; undefined where it leaves the event out. */
  project: (event: RoomEvent, context: Context) => unknown;
}

/** What a subscription's resolver returns: which room, from where, and what of its events. */
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

  /** graphql asks for an iterable; the events themselves go through the fan-out, once for many subscribers. */
  [Symbol.asyncIterator](): never {
    throw new Error('A room stream is read by the fan-out.');
  }
}
