import { isUtf8 } from 'node:buffer';

/** A line of the file, numbered from 1: its text, or the reason why it is refused. */
export type Line = { number: number; text: string } | { number: number; refused: string };

const newline = 0x0a;
const byteOrderMark = '\ufeff';

/** Splits bytes into lines. A line over `maxBytes` is refused and not held in memory. */
export class LineSplitter {
  readonly #maxBytes: number;
  #number = 0;
  /** The beginning of a line whose end has not been read yet. */
  #pieces: Buffer[] = [];
  #length = 0;

  constructor(maxBytes = 1_000_000) {
    this.#maxBytes = maxBytes;
  }

  /** Returns the lines that end in this chunk. */
  push(chunk: Buffer): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      this.#append(chunk.subarray(from, end));
      lines.push(this.#take());
      from = end + 1;
    }
    this.#append(chunk.subarray(from));
    return lines;
  }

  /** Returns the text after the last newline, if any. */
  end(): Line[] {
    return this.#length > 0 ? [this.#take()] : [];
  }

  #append(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= this.#maxBytes) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  #take(): Line {
    this.#number += 1;
    const [first] = this.#pieces;
    const bytes = this.#pieces.length === 1 && first ? first : Buffer.concat(this.#pieces);
    const isTooLong = this.#length > this.#maxBytes;
    this.#pieces = [];
    this.#length = 0;
    if (isTooLong) return { number: this.#number, refused: `it is longer than ${this.#maxBytes} bytes` };
    if (!isUtf8(bytes)) return { number: this.#number, refused: 'it is not UTF-8' };
    return { number: this.#number, text: this.#decode(bytes) };
  }

  #decode(bytes: Buffer): string {
    const text = bytes.toString('utf8');
    return this.#number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text;
  }
}
