import { closeSync, fdatasyncSync, openSync, readSync, writeSync } from 'node:fs';

/* The format: https://www.sqlite.org/fileformat.html#the_write_ahead_log */
const headerBytes = 32;
const frameHeaderBytes = 24;
const saltBytes = 8;
/** Offsets in the header of the file, and the length of its beginning that is in the checksum. */
const header = { pageSize: 8, salt: 16, checksum: 24, checksummedBytes: 24 };
/** The same for the header of a frame. */
const frame = { salt: 8, checksum: 16, checksummedBytes: 8 };
/** The first number of the file; the lowest bit is set if the numbers of the checksum are big-endian. */
const magic = 0x377f0682;

/** The number of frames of a write-ahead log before the first one that is not as SQLite wrote it. */
export function countIntactFrames(path: string): number {
  return withFile(path, (descriptor) => countFrames(readIntactParts(descriptor)));
}

/**
 * Writes the intact frames of a write-ahead log a second time, flushes them, and returns their number. No connection may
 * write meanwhile.
 */
export function rewriteFrames(path: string): number {
  return withFile(path, (descriptor) => {
    const count = countFrames(readIntactParts(descriptor), ({ bytes, offset }) => {
      for (let written = 0; written < bytes.length; )
        written += writeSync(descriptor, bytes, written, bytes.length - written, offset + written);
    });
    fdatasyncSync(descriptor);
    return count;
  });
}

/** The header of the file, or a frame with its header. */
interface Part {
  bytes: Buffer;
  /** In the file: 0 for the header of the file. */
  offset: number;
}

function withFile(path: string, work: (descriptor: number) => number): number {
  const descriptor = openSync(path, 'r+');
  try {
    return work(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Calls `visit` with each part, and returns the number of frames. */
function countFrames(parts: Iterable<Part>, visit?: (part: Part) => void): number {
  let count = 0;
  for (const part of parts) {
    visit?.(part);
    if (part.offset > 0) count += 1;
  }
  return count;
}

/**
 * The header of the file and its frames, up to the first part whose salt or checksum is wrong. All frames use the same
 * buffer.
 */
function* readIntactParts(descriptor: number): Generator<Part> {
  const fileHeader = Buffer.alloc(headerBytes);
  readSync(descriptor, fileHeader, 0, headerBytes, 0);
  const firstNumber = fileHeader.readUInt32BE(0);
  if ((firstNumber & ~1) !== magic) return;
  const checksum = new Checksum(firstNumber !== magic);
  checksum.add(fileHeader.subarray(0, header.checksummedBytes));
  if (!checksum.equals(fileHeader, header.checksum)) return;
  yield { bytes: fileHeader, offset: 0 };
  const salt = fileHeader.subarray(header.salt, header.salt + saltBytes);
  const bytes = Buffer.alloc(frameHeaderBytes + fileHeader.readUInt32BE(header.pageSize));
  for (let offset = headerBytes; ; offset += bytes.length) {
    if (readSync(descriptor, bytes, 0, bytes.length, offset) < bytes.length) return;
    if (!salt.equals(bytes.subarray(frame.salt, frame.salt + saltBytes))) return;
    checksum.add(bytes.subarray(0, frame.checksummedBytes));
    checksum.add(bytes.subarray(frameHeaderBytes));
    if (!checksum.equals(bytes, frame.checksum)) return;
    yield { bytes, offset };
  }
}

/** Of everything in the log so far. */
class Checksum {
  readonly #isBigEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian;
  }

  add(bytes: Buffer): void {
    for (let offset = 0; offset < bytes.length; offset += 8) {
      this.#first = (this.#first + this.#read(bytes, offset) + this.#second) >>> 0;
      this.#second = (this.#second + this.#read(bytes, offset + 4) + this.#first) >>> 0;
    }
  }

  equals(bytes: Buffer, offset: number): boolean {
    return bytes.readUInt32BE(offset) === this.#first && bytes.readUInt32BE(offset + 4) === this.#second;
  }

  #read(bytes: Buffer, offset: number): number {
    return this.#isBigEndian ? bytes.readUInt32BE(offset) : bytes.readUInt32LE(offset);
  }
}
