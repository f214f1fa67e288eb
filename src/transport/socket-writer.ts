import type { Socket } from 'node:net';

/** So many bytes may wait on a live reader's socket; above, it leaves the live path. */
export const maxBufferedBytes = 256 * 1024;

/** A payload longer than this is not copied behind each header, but handed over as it is. */
const maxCopiedBytes = 16 * 1024;
const finalText = 0x81;

/**
 * Writes text frames past the WebSocket library: the bytes of an event are the same for all, only the operation's id
 * stands before them. What comes in one turn of the event loop leaves in one write.
 */
export class SocketWriter {
  readonly #socket: Socket;
  readonly #isOpen: () => boolean;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #waiting: (() => void)[] = [];

  /** `isOpen`: behind a close frame no other may follow. */
  constructor(socket: Socket, isOpen: () => boolean) {
    this.#socket = socket;
    this.#isOpen = isOpen;
    socket.on('drain', () => this.#resume());
  }

  /** One frame: `prefix`, then `shared`. */
  write(prefix: Buffer, shared: Buffer): void {
    if (!this.#isOpen()) return;
    if (this.#pending.length === 0) schedule(this);
    const length = prefix.length + shared.length;
    if (shared.length > maxCopiedBytes) {
      this.#pending.push(frame(length, prefix), shared);
    } else {
      this.#pending.push(frame(length, prefix, shared));
    }
    this.#pendingBytes += length;
  }

  isFull(): boolean {
    return this.#socket.writableLength + this.#pendingBytes > maxBufferedBytes;
  }

  onceDrained(resume: () => void): void {
    this.#waiting.push(resume);
  }

  flush(): void {
    const pending = this.#pending;
    if (pending.length === 0) return;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (!this.#isOpen() || this.#socket.destroyed) return;
    const [first] = pending;
    if (pending.length === 1 && first) this.#socket.write(first);
    else {
      this.#socket.cork();
      for (const bytes of pending) this.#socket.write(bytes);
      this.#socket.uncork();
    }
    if (!this.#socket.writableNeedDrain) this.#resume();
  }

  /** The socket is gone: whoever waits for it waits no longer. */
  close(): void {
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#resume();
  }

  #resume(): void {
    if (this.#waiting.length === 0) return;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resume of waiting) resume();
  }
}

let scheduled: SocketWriter[] = [];

function schedule(writer: SocketWriter): void {
  if (scheduled.length === 0) setImmediate(flushAll);
  scheduled.push(writer);
}

function flushAll(): void {
  const writers = scheduled;
  scheduled = [];
  for (const writer of writers) writer.flush();
}

/** The header of an unmasked text frame of `length` bytes, and what of it is at hand (RFC 6455, 5.2). */
function frame(length: number, ...parts: Buffer[]): Buffer {
  const headerLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const partsLength = parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = Buffer.allocUnsafe(headerLength + partsLength);
  bytes[0] = finalText;
  if (headerLength === 2) bytes[1] = length;
  else if (headerLength === 4) {
    bytes[1] = 126;
    bytes.writeUInt16BE(length, 2);
  } else {
    bytes[1] = 127;
    bytes.writeBigUInt64BE(BigInt(length), 2);
  }
  let offset = headerLength;
  for (const part of parts) offset += part.copy(bytes, offset);
  return bytes;
}
