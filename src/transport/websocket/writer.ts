import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ClientAccount } from '../../engine/limits/retained.ts';
import { type Outgoing, sendEventsAtTurnEnd } from '../batched-writes.ts';

/** So many bytes may wait on a live reader's socket; above, it leaves the live path. */
export const maxBufferedBytes = 256 * 1024;

/** A payload longer than this is not copied behind each header, but handed over as it is. */
const maxCopiedBytes = 16 * 1024;
const finalText = 0x81;

interface Frame {
  prefix: Buffer;
  shared: Buffer;
}

/**
 * Writes text frames past the WebSocket library: the bytes of an event are the same for all, only the operation's id
 * stands before them. What comes in one turn of the event loop leaves in one write.
 */
export class SocketWriter implements Outgoing {
  /** From then on nothing more is written, in milliseconds since 1970: a timer may be late. */
  expiresAt = Number.POSITIVE_INFINITY;
  readonly #socket: Socket;
  readonly #webSocket: WebSocket;
  #pending: Frame[] | undefined;
  #pendingBytes = 0;
  #waiting: (() => void)[] | undefined;
  readonly #account: ClientAccount;
  /** Bytes that wait on the socket, as they were last counted. */
  #counted = 0;

  constructor(socket: Socket, webSocket: WebSocket, account: ClientAccount) {
    this.#socket = socket;
    this.#webSocket = webSocket;
    this.#account = account;
    socket.on('drain', () => this.#resume());
  }

  /** One frame: `prefix`, then `shared`. */
  write(prefix: Buffer, shared: Buffer): void {
    this.#pendingBytes += frameLength(prefix, shared);
    if (this.#pending) return void this.#pending.push({ prefix, shared });
    this.#pending = [{ prefix, shared }];
    sendEventsAtTurnEnd(this);
  }

  isFull(): boolean {
    const waiting = this.#socket.writableLength;
    // Where too much is kept for the address already, nothing is added to what waits.
    return waiting + this.#pendingBytes > maxBufferedBytes || (waiting > 0 && this.#account.isCrowded);
  }

  /** While too much is kept for its address, a reader may not have an event that is longer than what may wait for it. */
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
    // Behind a close frame no other may follow.
    if (this.#webSocket.readyState !== this.#webSocket.OPEN || now >= this.expiresAt) return;
    if (length <= maxCopiedBytes && this.#socket.writableLength === 0) this.#writeAtOnce(pending, length);
    else this.#writeEach(pending);
    this.recount();
    if (!this.#socket.writableNeedDrain) this.#resume();
  }

  /** Something was written to the socket. What the system did not take is kept until it does. */
  recount(): void {
    if (this.#socket.writableLength === this.#counted) return;
    this.#count();
    if (this.#counted > 0) this.#socket.write(nothing, () => this.#taken());
  }

  #taken(): void {
    this.#count();
    if (this.#counted === 0) this.#resume();
    // A ping or a pong of ws itself came after what was counted.
    else this.#socket.write(nothing, () => this.#taken());
  }

  #count(): void {
    const waiting = this.#socket.writableLength;
    this.#account.add(waiting - this.#counted);
    this.#counted = waiting;
  }

  /** The socket is gone: whoever waits for it waits no longer. */
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
    // What the system did not take waits where it stands.
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

/** Frames are put together in one place for all sockets: it is free again as soon as the system has taken them. */
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

/** The header of an unmasked text frame (RFC 6455, 5.2) and the prefix; returns where `shared` goes on. */
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
