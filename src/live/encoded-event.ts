import type { LogPosition, StreamEvent } from '../data/event-log/events.ts';
import { StreamMessage } from './stream.ts';

/** One event for one group of subscribers: executed once, and serialised once. */
export class EncodedEvent extends StreamMessage {
  readonly roomId: string;
  /** The position after the event; subscribers that have received the event share this object. */
  readonly position: LogPosition;
  /** The position before the event. */
  readonly previous: LogPosition;
  /** The id of the user who left the room with this event. */
  readonly leftBy: string | undefined;
  /** The time of the event, in milliseconds since 1970. */
  readonly at: number;

  constructor(event: StreamEvent, cursor: string | undefined, json: string) {
    const { seq, mark, previousMark, at } = event;
    super(cursor, json);
    this.roomId = event.roomId;
    this.at = at;
    this.leftBy = event.type === 'MemberLeft' ? event.subjectId : undefined;
    this.position = { seq, mark };
    this.previous = { seq: seq - 1, mark: previousMark };
  }
}
