import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { contain, type Fail } from '../../common/contain.ts';
import type { ClientAccount } from '../../engine/limits/client-memory.ts';
import { type PendingWrite, sendEventsAtTurnEnd } from '../batched-writes.ts';
import { maxBufferedBytes } from '../long-connections.ts';

/** Longer writes are not copied into one buffer. */
const maxCopiedBytes = 16 * 1024;
const finalText = 0x81;

/** A text frame whose payload is `prefix`, then `shared`, the bytes that are the same for all subscribers. */
interface TextFrame {
  prefix: Buffer;
  shared: Buffer;
}

/**
 * Writes text frames without the WebSocket library: the bytes of an event are the same for all subscribers, except for
 * the operation's id before them. The frames of one turn of the event loop are sent in one write.
 */
export class SocketWriter implements PendingWrite {
  /**
   * In milliseconds since 1970. No event is written after this time, even if the timer that ends the socket is late.
   */
  expiresAt = Number.POSITIVE_INFINITY;
  readonly #socket: Socket;
  readonly #webSocket: WebSocket;
  readonly #account: ClientAccount;
  readonly fail: Fail;
  readonly #onAccepted: () => void;
  /** Frames that are written at the end of the turn. */
  #pending: TextFrame[] = [];
  #pendingBytes = 0;
  readonly #onDrained: (() => void)[] = [];
  #onRead: (() => void)[] | undefined;
  #isPingDue = false;
  /** The number of pings that the client has not answered. */
  #pings = 0;
  /** The bytes that waited on the socket when they were last counted. */
  #counted = 0;
  /** The time of the latest live event, and of the latest write of events. */
  #eventAt: number | undefined;
  #writtenAt = 0;

  constructor(socket: Socket, webSocket: WebSocket, account: ClientAccount, fail: Fail) {
    this.#socket = socket;
    this.#webSocket = webSocket;
    this.#account = account;
    this.fail = fail;
    this.#onAccepted = contain(() => this.#recountAccepted(), fail);
    socket.on('drain', () => {
      // Otherwise a long event would be refused for the bytes that have just been accepted.
      this.#count();
      resumeAll(this.#onDrained);
    });
  }

  /** From the time of the latest live event to its write; 0 before the first. */
  get lagMs(): number {
    return this.#eventAt === undefined ? 0 : Math.max(0, this.#writtenAt - this.#eventAt);
  }

  /**
   * Writes one frame with the payload `prefix`, then `shared`. `at`: the time of a live event, in milliseconds since
   * 1970.
   */
  write(prefix: Buffer, shared: Buffer, at?: number): void {
    const frame = { prefix, shared };
    if (at !== undefined) this.#eventAt = at;
    this.#pendingBytes += lengthOf(frame);
    if (this.#pending.push(frame) === 1) sendEventsAtTurnEnd(this);
  }

  isFull(): boolean {
    const waiting = this.#socket.writableLength;
    // While the memory budget is almost used up, a socket that has waiting bytes counts as full.
    return waiting + this.#pendingBytes > maxBufferedBytes || (waiting > 0 && this.#account.isNearLimit);
  }

  /** False for an event above `maxBufferedBytes` while the memory budget of the address is almost used up. */
  accepts(length: number): boolean {
    return length <= maxBufferedBytes || !this.#account.isNearLimit;
  }

  onceDrained(resume: () => void): void {
    this.#onDrained.push(resume);
    // The bytes that wait may be those of a ping of ws, which are not counted yet.
    this.recount();
  }

  /** Sends a ping after the pending frames: a client answers it when it has read them. */
  onceRead(resume: () => void): void {
    if (!this.#onRead) this.#webSocket.on('pong', () => resumeAll(this.#onRead));
    this.#onRead ??= [];
    if (this.#onRead.push(resume) === 1) this.#isPingDue = true;
  }

  ping(): void {
    this.#pings += 1;
    this.#webSocket.ping();
  }

  /** False for a pong that answers no ping. */
  takePong(): boolean {
    if (this.#pings === 0) return false;
    this.#pings -= 1;
    return true;
  }

  flush(now = Date.now()): void {
    const { frames, length } = this.#takePending();
    // No frame may follow a close frame.
    if (length === 0 || this.#webSocket.readyState !== this.#webSocket.OPEN || now >= this.expiresAt) return;
    if (length <= maxCopiedBytes && this.#socket.writableLength === 0) this.#writeTogether(frames, length);
    else this.#writeEach(frames);
    this.#writtenAt = now;
    if (this.#isPingDue) this.ping();
    this.#isPingDue = false;
    this.recount();
    // Only after a write is it known whether the system accepts the bytes: one event for each of many sockets could
    // exceed the memory budget of the address. The client resumes from the latest events that it has received.
    if (this.#counted > 0 && this.#account.isAddressOver) {
      this.#webSocket.terminate();
      return this.#count();
    }
    if (!this.#socket.writableNeedDrain) resumeAll(this.#onDrained);
  }

  /** Called after each write to the socket. Bytes that the system has not accepted are counted until it does. */
  recount(): void {
    if (this.#socket.writableLength === this.#counted) return;
    this.#count();
    if (this.#counted > 0) this.#socket.write(nothing, this.#onAccepted);
  }

  #recountAccepted(): void {
    this.#count();
    if (this.#counted === 0) resumeAll(this.#onDrained);
    // Count again: ws has written a ping or a pong since the last count.
    else this.#socket.write(nothing, this.#onAccepted);
  }

  #count(): void {
    const waiting = this.#socket.destroyed ? 0 : this.#socket.writableLength;
    this.#account.add(waiting - this.#counted);
    this.#counted = waiting;
  }

  /** Called when the socket is closed: drops the pending frames, and resumes all callers that wait for it to drain. */
  close(): void {
    this.#takePending();
    resumeAll(this.#onDrained);
  }

  #takePending(): { frames: readonly TextFrame[]; length: number } {
    const taken = { frames: this.#pending, length: this.#pendingBytes };
    this.#pending = [];
    this.#pendingBytes = 0;
    return taken;
  }

  #writeTogether(frames: readonly TextFrame[], length: number): void {
    if (view.buffer !== scratch.buffer || view.length !== length) view = scratch.subarray(0, length);
    this.#socket.write(copyFrames(frames, view));
    // The socket still refers to bytes that the system has not accepted, so they must not be overwritten.
    if (this.#socket.writableLength > 0) scratch = Buffer.allocUnsafeSlow(maxCopiedBytes);
  }

  #writeEach(frames: readonly TextFrame[]): void {
    this.#socket.cork();
    for (const frame of frames) {
      if (frame.shared.length <= maxCopiedBytes)
        this.#socket.write(copyFrames([frame], Buffer.allocUnsafe(lengthOf(frame))));
      else {
        this.#socket.write(copyUnshared(frame));
        this.#socket.write(frame.shared);
      }
    }
    this.#socket.uncork();
  }
}

/** Each is called once. */
function resumeAll(callbacks: (() => void)[] = []): void {
  if (callbacks.length === 0) return;
  for (const resume of callbacks.splice(0)) resume();
}

const nothing = Buffer.alloc(0);

/**
 * A buffer that all sockets share: it is free again as soon as the system has accepted its bytes. A buffer for each write
 * takes 14 % more CPU time per delivery. `view` is its part that the latest write used: most writes of an event are of
 * one length.
 */
let scratch = Buffer.allocUnsafeSlow(maxCopiedBytes);
let view = scratch;

function lengthOf({ prefix, shared }: TextFrame): number {
  const length = prefix.length + shared.length;
  return headerLength(length) + length;
}

/** Copies frames to the start of `bytes`, and returns `bytes`. */
function copyFrames(frames: readonly TextFrame[], bytes: Buffer): Buffer {
  let offset = 0;
  for (const frame of frames) {
    offset = writeHead(bytes, offset, frame);
    bytes.set(frame.shared, offset);
    offset += frame.shared.length;
  }
  return bytes;
}

/** The bytes of the frame before `shared`. */
function copyUnshared(frame: TextFrame): Buffer {
  const bytes = Buffer.allocUnsafe(lengthOf(frame) - frame.shared.length);
  writeHead(bytes, 0, frame);
  return bytes;
}

function headerLength(length: number): number {
  return length < 126 ? 2 : length < 65_536 ? 4 : 10;
}

/** Writes the header of an unmasked text frame (RFC 6455, 5.2) and the prefix; returns the offset for `shared`. */
function writeHead(bytes: Buffer, start: number, { prefix, shared }: TextFrame): number {
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
