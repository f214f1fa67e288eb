import { isUtf8 } from 'node:buffer';

/** A line of the file, numbered from 1: its text, or the reason why it is refused. */
export type Line = { number: number; text: string } | { number: number; refused: string };

const newline = 0x0a;
const byteOrderMark = '\ufeff';
const maxBytes = 1_000_000;

/** Splits bytes into lines, and yields those of each chunk. A line that is too long is refused and not held in memory. */
export async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  /** The beginning of a line whose end has not been read yet. */
  let pieces: Buffer[] = [];
  let length = 0;
  const append = (piece: Buffer) => {
    length += piece.length;
    if (length <= maxBytes) pieces.push(piece);
    else pieces = [];
  };
  const take = () => {
    number += 1;
    const line =
      length > maxBytes ? { number, refused: `it is longer than ${maxBytes} bytes` } : decode(number, pieces);
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      append(chunk.subarray(from, end));
      lines.push(take());
      from = end + 1;
    }
    append(chunk.subarray(from));
    yield lines;
  }
  if (length > 0) yield [take()];
}

function decode(number: number, pieces: readonly Buffer[]): Line {
  const [first] = pieces;
  const bytes = pieces.length === 1 && first ? first : Buffer.concat(pieces);
  if (!isUtf8(bytes)) return { number, refused: 'it is not UTF-8' };
  const text = bytes.toString('utf8');
  return { number, text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text };
}
