import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ClientAccount } from '../../engine/limits/retained.ts';
import { type Outgoing, sendEventsAtTurnEnd } from '../batched-writes.ts';

/**
 * The maximum number of bytes that wait on the socket of a live subscriber; above it, the subscriber is no longer live.
 */
export const maxBufferedBytes = 256 * 1024;

/** A longer payload is not copied after each header, but written separately. */
const maxCopiedBytes = 16 * 1024;
const finalText = 0x81;

interface Frame {
  prefix: Buffer;
  shared: Buffer;
}

/**
 * Writes text frames without the WebSocket library: the bytes of an event are the same for all subscribers, except for
 * the operation's id before them. The frames of one turn of the event loop are sent in one write.
 */
export class SocketWriter implements Outgoing {
  /**
   * In milliseconds since 1970. No event is written after this time, even if the timer that ends the socket is late.
   */
  expiresAt = Number.POSITIVE_INFINITY;
  readonly #socket: Socket;
  readonly #webSocket: WebSocket;
  #pending: Frame[] | undefined;
  #pendingBytes = 0;
  #waiting: (() => void)[] | undefined;
  readonly #account: ClientAccount;
  /** The bytes that waited on the socket when they were last counted. */
  #counted = 0;

  constructor(socket: Socket, webSocket: WebSocket, account: ClientAccount) {
    this.#socket = socket;
    this.#webSocket = webSocket;
    this.#account = account;
    socket.on('drain', () => this.#resume());
  }

  /** Writes one frame with the payload `prefix`, then `shared`. */
  write(prefix: Buffer, shared: Buffer): void {
    this.#pendingBytes += frameLength(prefix, shared);
    if (this.#pending) return void this.#pending.push({ prefix, shared });
    this.#pending = [{ prefix, shared }];
    sendEventsAtTurnEnd(this);
  }

  isFull(): boolean {
    const waiting = this.#socket.writableLength;
    // While the memory budget is almost used up, a socket that has waiting bytes counts as full.
    return waiting + this.#pendingBytes > maxBufferedBytes || (waiting > 0 && this.#account.isCrowded);
  }

  /** False for an event above `maxBufferedBytes` while the memory budget of the address is almost used up. */
  accepts(length: number): boolean {
    return length <= maxBufferedBytes || !this.#account.isCrowded;
  }

  onceDrained(resume: () => void): void {
    this.#waiting ??= [];
    this.#waiting.push(resume);
  }

  flush(now = Date.now()): void {
    const pending = this.#pending;
    if (!pending) return;
    const length = this.#pendingBytes;
    this.#pending = undefined;
    this.#pendingBytes = 0;
    // No frame may follow a close frame.
    if (this.#webSocket.readyState !== this.#webSocket.OPEN || now >= this.expiresAt) return;
    if (length <= maxCopiedBytes && this.#socket.writableLength === 0) this.#writeAtOnce(pending, length);
    else this.#writeEach(pending);
    this.recount();
    if (!this.#socket.writableNeedDrain) this.#resume();
  }

  /** Called after each write to the socket. Bytes that the system has not accepted are counted until it does. */
  recount(): void {
    if (this.#socket.writableLength === this.#counted) return;
    this.#count();
    if (this.#counted > 0) this.#socket.write(nothing, () => this.#taken());
  }

  #taken(): void {
    this.#count();
    if (this.#counted === 0) this.#resume();
    // ws itself has written a ping or a pong after the last count.
    else this.#socket.write(nothing, () => this.#taken());
  }

  #count(): void {
    const waiting = this.#socket.writableLength;
    this.#account.add(waiting - this.#counted);
    this.#counted = waiting;
  }

  /** Called when the socket is closed: drops the pending frames, and resumes all callers that wait for it to drain. */
  close(): void {
    this.#pending = undefined;
    this.#pendingBytes = 0;
    this.#resume();
  }

  #writeAtOnce(frames: readonly Frame[], length: number): void {
    const bytes = takeScratch(length);
    let offset = 0;
    for (const { prefix, shared } of frames) {
      offset = putHead(bytes, offset, prefix, shared);
      bytes.set(shared, offset);
      offset += shared.length;
    }
    this.#socket.write(bytes);
    // The socket still refers to the bytes that the system has not accepted, so they must not be overwritten.
    if (this.#socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(maxCopiedBytes);
  }

  #writeEach(frames: readonly Frame[]): void {
    this.#socket.cork();
    for (const { prefix, shared } of frames) {
      const isLong = shared.length > maxCopiedBytes;
      const length = frameLength(prefix, shared);
      const bytes = Buffer.allocUnsafe(isLong ? length - shared.length : length);
      const offset = putHead(bytes, 0, prefix, shared);
      if (!isLong) bytes.set(shared, offset);
      this.#socket.write(bytes);
      if (isLong) this.#socket.write(shared);
    }
    this.#socket.uncork();
  }

  #resume(): void {
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    for (const resume of waiting) resume();
  }
}

const nothing = Buffer.alloc(0);

/**
 * A buffer that all sockets share to assemble frames: it is free again as soon as the system has accepted the bytes.
 */
let scratch = Buffer.allocUnsafeSlow(maxCopiedBytes);
let taken = scratch;

function takeScratch(length: number): Buffer {
  if (taken.buffer !== scratch.buffer || taken.length !== length) taken = scratch.subarray(0, length);
  return taken;
}

function frameLength(prefix: Buffer, shared: Buffer): number {
  const length = prefix.length + shared.length;
  return headerLength(length) + length;
}

function headerLength(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}

/** Writes the header of an unmasked text frame (RFC 6455, 5.2) and the prefix; returns the offset for `shared`. */
function putHead(bytes: Buffer, start: number, prefix: Buffer, shared: Buffer): number {
  const length = prefix.length + shared.length;
  const offset = start + headerLength(length);
  bytes[start] = finalText;
  if (length < 126) bytes[start + 1] = length;
  else if (length < 65_536) {
    bytes[start + 1] = 126;
    bytes.writeUInt16BE(length, start + 2);
  } else {
    bytes[start + 1] = 127;
    bytes.writeBigUInt64BE(BigInt(length), start + 2);
  }
  bytes.set(prefix, offset);
  return offset + prefix.length;
}
