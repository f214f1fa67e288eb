import { isUtf8 } from 'node:buffer';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Entry } from './batch.ts';
import { BadRecord, parseRecord } from './records.ts';

const maxEntries = 500;
const maxCharacters = 1_000_000;
const maxBytes = 1_000_000;
const gzipMagic = Buffer.from([0x1f, 0x8b]);
const newline = 0x0a;
const byteOrderMark = '\ufeff';

/** A line of the file, numbered from 1: its text, or the reason why it is refused. */
type Line = { number: number; text: string } | { number: number; reason: string };

/** Reads the lines of a file in batches, each small enough for one transaction. Empty lines are skipped. */
export async function* readBatches(bytes: AsyncIterable<Buffer>): AsyncGenerator<Entry[]> {
  let entries: Entry[] = [];
  let characters = 0;
  for await (const lines of readLines(bytes)) {
    for (const line of lines) {
      const entry = readEntry(line);
      if (!entry) continue;
      entries.push(entry);
      characters += 'text' in line ? line.text.length : 0;
      if (entries.length < maxEntries && characters < maxCharacters) continue;
      yield entries;
      entries = [];
      characters = 0;
    }
  }
  if (entries.length > 0) yield entries;
}

function readEntry(line: Line): Entry | undefined {
  const { number } = line;
  if ('reason' in line) return { line: number, reason: line.reason };
  if (/^\s*$/.test(line.text)) return undefined;
  try {
    return { line: number, record: parseRecord(line.text) };
  } catch (error) {
    if (error instanceof BadRecord) return { line: number, reason: error.message };
    throw error;
  }
}

/** Splits bytes into lines, and yields those of each chunk. A line that is too long is refused and not held in memory. */
async function* readLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
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
    const line = length > maxBytes ? { number, reason: `it is longer than ${maxBytes} bytes` } : decode(number, pieces);
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
  if (!isUtf8(bytes)) return { number, reason: 'it is not UTF-8' };
  const text = bytes.toString('utf8');
  return { number, text: number === 1 && text.startsWith(byteOrderMark) ? text.slice(1) : text };
}

/** The input cannot be read; `cause` is the reason. */
export class InputUnreadable extends Error {
  constructor(file: string, cause: unknown) {
    super(`cannot read ${file === '-' ? 'standard input' : file}`, { cause });
    this.name = 'InputUnreadable';
  }
}

/**
 * Opens a file, or standard input for `-`. Input is decompressed if its first bytes or its name are those of gzip.
 * @throws InputUnreadable
 */
export async function openInput(file: string) {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file);
  try {
    const head = await peek(source, gzipMagic.length);
    const bytes = file.endsWith('.gz') || head.equals(gzipMagic) ? gunzip(source) : source;
    return { bytes: explainFailures(file, bytes), [Symbol.asyncDispose]: async () => void source.destroy() };
  } catch (error) {
    throw new InputUnreadable(file, error);
  }
}

async function* explainFailures(file: string, bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch (error) {
    throw new InputUnreadable(file, error);
  }
}

/** The first bytes of a stream, which keeps them. */
async function peek(source: Readable, length: number): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < length) {
    await once(source, 'readable');
    const chunk = source.read();
    if (chunk === null) break;
    head = Buffer.concat([head, chunk]);
  }
  source.unshift(head);
  return head.subarray(0, length);
}

/** Errors are thrown to the consumer of the iterable. */
function gunzip(compressed: Readable): AsyncIterable<Buffer> {
  const gunzip = createGunzip();
  // It may fail before the consumer starts to read, for example while the database is opened.
  gunzip.on('error', () => {});
  return pipeline(compressed, gunzip, () => {});
}
