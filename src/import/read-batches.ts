import { isUtf8 } from 'node:buffer';
import type { Entry } from './batch.ts';
import { BadRecord, parseRecord } from './records.ts';

const maxEntries = 500;
/** The maximum size of a batch in bytes. */
const maxBatchBytes = 1_000_000;
const newline = 0x0a;
const byteOrderMark = '\ufeff';
const maxLineBytes = 1_000_000;

/** A line of the file, numbered from 1. `bytes` is undefined if it is too long. */
interface Line {
  number: number;
  bytes: Buffer | undefined;
}

/** Reads the lines of a file in batches, each small enough for one transaction. Empty lines are skipped. */
export async function* readBatches(chunks: AsyncIterable<Buffer>): AsyncGenerator<Entry[]> {
  let entries: Entry[] = [];
  let size = 0;
  for await (const lines of readLines(chunks)) {
    for (const line of lines) {
      const entry = readEntry(line);
      if (!entry) continue;
      entries.push(entry);
      size += line.bytes?.length ?? 0;
      if (entries.length < maxEntries && size < maxBatchBytes) continue;
      yield entries;
      entries = [];
      size = 0;
    }
  }
  if (entries.length > 0) yield entries;
}

/** Splits bytes into lines, and yields those of each chunk. A line that is too long is not held in memory. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let number = 0;
  /** The beginning of a line whose end has not been read yet. */
  let pieces: Buffer[] = [];
  let length = 0;
  const append = (piece: Buffer) => {
    length += piece.length;
    if (length <= maxLineBytes) pieces.push(piece);
    else pieces = [];
  };
  const take = (): Line => {
    number += 1;
    const [first] = pieces;
    const whole = pieces.length === 1 && first ? first : Buffer.concat(pieces);
    const line = { number, bytes: length > maxLineBytes ? undefined : whole };
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

function readEntry({ number, bytes }: Line): Entry | undefined {
  if (!bytes) return { line: number, reason: `it is longer than ${maxLineBytes} bytes` };
  if (!isUtf8(bytes)) return { line: number, reason: 'it is not UTF-8' };
  const text = bytes.toString('utf8');
  const json = number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text;
  if (/^\s*$/.test(json)) return undefined;
  try {
    return { line: number, record: parseRecord(json) };
  } catch (error) {
    if (error instanceof BadRecord) return { line: number, reason: error.message };
    throw error;
  }
}
