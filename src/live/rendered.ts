/** How a transport frames a result: the bytes that all its subscribers share. */
export type Encoder = (rendered: Rendered) => Buffer;

/** One event as one group of subscribers gets it: executed once, serialised once, framed once a transport. */
export class Rendered {
  readonly seq: number;
  /** The position behind the event. */
  readonly cursor: string;
  /** The execution result as JSON. */
  readonly json: string;
  readonly #encoded = new Map<Encoder, Buffer>();

  constructor(seq: number, cursor: string, json: string) {
    this.seq = seq;
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
