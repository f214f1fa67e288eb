import type { LogPosition, RoomEvent } from '../data/events.ts';

/** Frames a result for a transport; all subscribers of the group on this transport share the bytes. */
export type Encoder = (event: EncodedEvent) => Buffer;

/** One event for one group of subscribers: executed once, serialised once, and framed once per transport. */
export class EncodedEvent {
  /** The position after the event; subscribers that have received the event share this object. */
  readonly position: LogPosition;
  /** The position before the event. */
  readonly previous: LogPosition;
  /** The position after the event, in the form that clients send back. */
  readonly cursor: string;
  /** The execution result as JSON. */
  readonly json: string;
  readonly #encoded = new Map<Encoder, Buffer>();

  constructor({ seq, mark, previousMark }: RoomEvent, cursor: string, json: string) {
    this.position = { seq, mark };
    this.previous = { seq: seq - 1, mark: previousMark };
    this.cursor = cursor;
    this.json = json;
  }

  encode(encoder: Encoder): Buffer {
    const known = this.#encoded.get(encoder);
    if (known) return known;
    const encoded = encoder(this);
    this.#encoded.set(encoder, encoded);
    return encoded;
  }
}
