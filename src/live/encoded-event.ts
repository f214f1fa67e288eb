import type { LogPosition, RoomEvent } from '../data/events.ts';
import { Frame } from './stream.ts';

/** One event for one group of subscribers: executed once, and serialised once. */
export class EncodedEvent extends Frame {
  /** The position after the event; subscribers that have received the event share this object. */
  readonly position: LogPosition;
  /** The position before the event. */
  readonly previous: LogPosition;

  /** The time of the event, in milliseconds since 1970. */
  readonly at: number;

  constructor({ seq, mark, previousMark, at }: RoomEvent, cursor: string, json: string) {
    super(cursor, json);
    this.at = at;
    this.position = { seq, mark };
    this.previous = { seq: seq - 1, mark: previousMark };
  }
}
