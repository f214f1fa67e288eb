import type { LogPosition, RoomEvent } from '../data/events.ts';

/** How a transport frames a result: the bytes that all its subscribers share. */
export type Encoder = (rendered: EncodedEvent) => Buffer;

/** One event as one group of subscribers gets it: executed once, serialised once, framed once a transport. */
export class EncodedEvent {
  /** The position after the event, shared by all who have received it. */
  readonly position: LogPosition;
  /** The position before the event. */
  readonly previous: LogPosition;
  /** The position after the event, as clients send it back. */
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
