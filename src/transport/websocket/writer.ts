import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { ClientAccount } from '../../engine/limits/retained.ts';
import { flushAtTurnEnd, type Outgoing } from '../batched-writes.ts';

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
  readonly #account: ClientAccount;
  /** Frames that are written at the end of the turn. */
  #pending: Frame[] = [];
  #pendingBytes = 0;
  #onDrained: (() => void)[] = [];
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
    const frame = { prefix, shared };
    this.#pendingBytes += lengthOf(frame);
    if (this.#pending.push(frame) === 1) flushAtTurnEnd(this);
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
    this.#onDrained.push(resume);
  }

  flush(now = Date.now()): void {
    const { frames, length } = this.#takePending();
    // No frame may follow a close frame.
    if (length === 0 || this.#webSocket.readyState !== this.#webSocket.OPEN || now >= this.expiresAt) return;
    if (length <= maxCopiedBytes) this.#socket.write(join(frames, length));
    else this.#writeEach(frames);
    this.recount();
    if (!this.#socket.writableNeedDrain) this.#resume();
  }

  /** Called after each write to the socket. Bytes that the system has not accepted are counted until it does. */
  recount(): void {
    if (this.#socket.writableLength === this.#counted) return;
    this.#count();
    if (this.#counted > 0) this.#recountWhenAccepted();
  }

  #recountWhenAccepted(): void {
    this.#socket.write(nothing, () => {
      this.#count();
      if (this.#counted === 0) this.#resume();
      // ws itself has written a ping or a pong after the last count.
      else this.#recountWhenAccepted();
    });
  }

  #count(): void {
    const waiting = this.#socket.writableLength;
    this.#account.add(waiting - this.#counted);
    this.#counted = waiting;
  }

  /** Called when the socket is closed: drops the pending frames, and resumes all callers that wait for it to drain. */
  close(): void {
    this.#takePending();
    this.#resume();
  }

  #takePending(): { frames: readonly Frame[]; length: number } {
    const taken = { frames: this.#pending, length: this.#pendingBytes };
    this.#pending = [];
    this.#pendingBytes = 0;
    return taken;
  }

  #writeEach(frames: readonly Frame[]): void {
    this.#socket.cork();
    for (const frame of frames) {
      if (frame.shared.length <= maxCopiedBytes) this.#socket.write(join([frame], lengthOf(frame)));
      else this.#writeLong(frame);
    }
    this.#socket.uncork();
  }

  #writeLong(frame: Frame): void {
    const head = Buffer.allocUnsafe(lengthOf(frame) - frame.shared.length);
    writeHead(head, 0, frame);
    this.#socket.write(head);
    this.#socket.write(frame.shared);
  }

  #resume(): void {
    if (this.#onDrained.length === 0) return;
    const callbacks = this.#onDrained;
    this.#onDrained = [];
    for (const resume of callbacks) resume();
  }
}

const nothing = Buffer.alloc(0);

function lengthOf({ prefix, shared }: Frame): number {
  const length = prefix.length + shared.length;
  return headerLength(length) + length;
}

function headerLength(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}

function join(frames: readonly Frame[], length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const frame of frames) {
    offset = writeHead(bytes, offset, frame);
    bytes.set(frame.shared, offset);
    offset += frame.shared.length;
  }
  return bytes;
}

/** Writes the header of an unmasked text frame (RFC 6455, 5.2) and the prefix; returns the offset for `shared`. */
function writeHead(bytes: Buffer, start: number, { prefix, shared }: Frame): number {
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
