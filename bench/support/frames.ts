type OnFrame = (opcode: number, bytes: Buffer, start: number, end: number) => void;

/** Finds the WebSocket frames in the bytes that a server sends. The caller may reuse the bytes after the call. */
export class FrameReader {
  readonly #onFrame: OnFrame;
  #rest: Buffer | undefined;

  constructor(onFrame: OnFrame) {
    this.#onFrame = onFrame;
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk;
    let offset = 0;
    for (;;) {
      const frame = readHeader(bytes, offset);
      if (!frame || frame.end > bytes.length) break;
      this.#onFrame((bytes[offset] ?? 0) & 0x0f, bytes, frame.start, frame.end);
      offset = frame.end;
    }
    this.#rest = offset < bytes.length ? Buffer.from(bytes.subarray(offset)) : undefined;
  }
}

/** The start and end of the payload of the frame at `offset`; undefined while its header is incomplete. */
function readHeader(bytes: Buffer, offset: number): { start: number; end: number } | undefined {
  const available = bytes.length - offset;
  if (available < 2) return undefined;
  const length = (bytes[offset + 1] ?? 0) & 0x7f;
  if (length < 126) return { start: offset + 2, end: offset + 2 + length };
  if (available < 4) return undefined;
  if (length === 127) throw new Error('a frame of 64 KiB or more is not supported');
  return { start: offset + 4, end: offset + 4 + bytes.readUInt16BE(offset + 2) };
}

/** A frame of a client. Its mask is zero, which does not change the payload. */
export function clientFrame(opcode: number, payload: Buffer | string): Buffer {
  const bytes = Buffer.from(payload);
  const isLong = bytes.length > 125;
  const header = Buffer.from([0x80 | opcode, 0x80 | (isLong ? 126 : bytes.length)]);
  const length = Buffer.alloc(isLong ? 2 : 0);
  if (isLong) length.writeUInt16BE(bytes.length);
  return Buffer.concat([header, length, Buffer.alloc(4), bytes]);
}
