import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';

const gzipMagic = Buffer.from([0x1f, 0x8b]);

export interface Input extends AsyncDisposable {
  bytes: AsyncIterable<Buffer>;
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
export async function openInput(file: string): Promise<Input> {
  const source: Readable = file === '-' ? process.stdin : createReadStream(file);
  try {
    const { head, all } = await peek(source, gzipMagic.length);
    const bytes = file.endsWith('.gz') || head.equals(gzipMagic) ? gunzip(all) : all;
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

/** Reads the first bytes as `head`; `all` also contains them. */
async function peek(source: Readable, length: number): Promise<{ head: Buffer; all: AsyncIterable<Buffer> }> {
  const chunks: AsyncIterator<Buffer> = source[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < length) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  return { head: head.subarray(0, length), all: chain(head, chunks) };
}

async function* chain(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

/** Errors are thrown to the consumer of the iterable. */
function gunzip(compressed: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  const gunzip = createGunzip();
  // It may fail before the consumer starts to read, for example while the database is opened.
  gunzip.on('error', () => {});
  return pipeline(Readable.from(compressed), gunzip, () => {});
}
