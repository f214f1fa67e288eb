import type { Socket } from 'node:net';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Answer } from '../../engine/answer.ts';
import type { Cancellation } from '../../engine/cancellation.ts';
import { type ClientAccount, socketBytes } from '../../engine/limits/retained.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import { findLostScope, lackOf } from '../../identity/access.ts';
import type { Watch } from '../../identity/credential-watch.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { Subscriber } from '../../live/subscriber.ts';
import type { UnsentAnswers } from '../admission/unsent-answers.ts';
import { bytesOfSeen, type SeenPositions } from './seen.ts';
import { Starting } from './starting.ts';
import { unfinishedBytes } from './unfinished-frames.ts';
import { SocketWriter } from './writer.ts';

/** The close code for a client that exceeds a limit, and for a client that cannot be served now. */
export const tryAgainLater = 1013;
const closeGraceMs = 5_000;
/** The client is warned this long before its credentials expire. */
const warningMs = 60_000;
const maxReasonBytes = 123;
/**
 * The memory of an operation that is not over: a fixed part, and a part for its message as text and parsed (measured).
 */
const pendingOperationBytes = 4_000;
const bytesPerMessageCharacter = 4;
/** The longest delay that a timer of Node accepts. */
const maxTimeoutMs = 2 ** 31 - 1;

/** One live subscription of a socket. */
interface Stream {
  subscriber: Subscriber;
  /** The viewer for whom the subscription was started. */
  begunBy: Viewer | null;
}

export interface ConnectionParts extends Pick<Connection, 'address' | 'authorization' | 'webSocket' | 'account'> {
  socket: Socket;
  unsent: UnsentAnswers;
}

/** The state of one WebSocket. It ends once, from either side; its operations are then cancelled. */
export class Connection {
  readonly address: string;
  /** The `Authorization` header of the handshake; undefined after it has been read. */
  authorization: string | undefined;
  readonly webSocket: WebSocket;
  readonly writer: SocketWriter;
  readonly #socket: Socket;
  readonly #unsent: UnsentAnswers;
  viewer: Viewer | null = null;
  /** Counts the memory that the server keeps for this connection. */
  readonly account: ClientAccount;
  readonly starting = new Starting();
  /** By operation id: the function that releases the bytes of the answer. */
  readonly #answers = new Map<string, () => void>();
  /** The cancellations of operations by id; an operation is cancelled when the client completes it or disconnects. */
  readonly running = new Map<string, Cancellation>();
  /** The cursors that operations had reached before the client reconnected; each cursor is used once. */
  #seen: SeenPositions = new Map();
  /** The bytes that are counted for the messages of running operations, by id. */
  readonly #messages = new Map<string, number>();
  #isHeldBack = false;
  /** Bytes of incomplete messages. */
  #unfinished = 0;
  /** The number of calls of `pauseReading` without a `resumeReading`. */
  #pauses = 0;
  /** Subscriptions by id. */
  readonly #streams = new Map<string, Stream>();
  #onEnd: (code: number, reason: string) => void = () => {};
  #hasEnded = false;
  #warning: NodeJS.Timeout | undefined;
  #watch: Watch | undefined;

  constructor({ address, authorization, webSocket, socket, unsent, account }: ConnectionParts) {
    this.#socket = socket;
    this.#unsent = unsent;
    this.address = address;
    this.authorization = authorization;
    this.webSocket = webSocket;
    this.account = account;
    account.add(socketBytes);
    this.writer = new SocketWriter(socket, webSocket, account);
    // An invalid frame: ws itself closes the socket, with the appropriate code.
    webSocket.on('error', () => this.#finish(1006, ''));
    webSocket.once('close', (code, reason) => this.#finish(code, String(reason)));
  }

  get isOpen(): boolean {
    return this.webSocket.readyState === this.webSocket.OPEN;
  }

  /** Called once, as soon as either side ends it. */
  set onEnd(listener: (code: number, reason: string) => void) {
    this.#onEnd = listener;
  }

  /**
   * Sends a text after the events written so far; resolves when more may be sent. While the client does not read, its
   * messages are not read either.
   */
  send(text: string): Promise<void> {
    this.writer.flush();
    // A client that has disconnected receives nothing; the `close` event does the rest.
    if (!this.isOpen) return Promise.resolve();
    this.webSocket.send(text, () => {});
    this.writer.recount();
    if (!this.writer.isFull()) return Promise.resolve();
    this.pauseReading();
    return new Promise((resolve) => {
      this.writer.onceDrained(() => {
        this.resumeReading();
        resolve();
      });
    });
  }

  pauseReading(): void {
    this.#pauses += 1;
    this.webSocket.pause();
  }

  resumeReading(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.webSocket.resume();
  }

  keepSeen(seen: SeenPositions): void {
    this.#seen = seen;
    for (const [id, cursor] of seen) this.account.add(bytesOfSeen(id, cursor));
    if (this.account.isOver) this.end(tryAgainLater, 'Too much memory is held for this address');
  }

  hasSeen(id: string): boolean {
    return this.#seen.has(id);
  }

  takeSeen(id: string): string | undefined {
    const cursor = this.#seen.get(id);
    if (cursor === undefined) return undefined;
    this.#seen.delete(id);
    this.account.add(-bytesOfSeen(id, cursor));
    return cursor;
  }

  /**
   * Counts the message of a new operation until the operation is over or is a stream. While the memory budget of
   * its address is almost used up, no further messages are read until the operations already read are done.
   * Without this, a client that resumes 100 subscriptions of 8,000 characters would exceed the budget of its socket.
   */
  keepMessage(id: string, length: number): void {
    if (this.#messages.has(id)) return;
    const bytes = pendingOperationBytes + bytesPerMessageCharacter * length;
    this.#messages.set(id, bytes);
    this.account.add(bytes);
    if (this.#isHeldBack || !this.account.isCrowded) return;
    this.#isHeldBack = true;
    this.pauseReading();
  }

  /** Called when data has arrived: counts the bytes of the incomplete message that ws keeps. */
  countUnfinished(): void {
    const bytes = unfinishedBytes(this.webSocket);
    if (bytes === this.#unfinished) return;
    this.account.add(bytes - this.#unfinished);
    this.#unfinished = bytes;
    if (bytes > 0 && this.account.isOver) this.end(tryAgainLater, 'Too much memory is held for this address');
  }

  /** Sends the pending frames and a close frame. A client that does not answer the close frame is disconnected. */
  end(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.writer.flush();
    this.webSocket.close(code, Buffer.byteLength(reason) > maxReasonBytes ? '' : reason);
    // The client's close frame must be read even while reading is paused.
    this.webSocket.resume();
    const timer = setTimeout(() => this.webSocket.terminate(), closeGraceMs).unref();
    // Otherwise the timer would keep the closed socket in memory.
    this.webSocket.once('close', () => clearTimeout(timer));
    this.#finish(code, reason);
  }

  /**
   * Sets the viewer of the connection. `watch` monitors the credentials and calls `end` when they become invalid.
   * Resolves when the credentials have been checked.
   */
  async admit(viewer: Viewer | null, watch: (viewer: Viewer | null, end: () => void) => Watch): Promise<void> {
    if (this.#hasEnded) return;
    this.#watch?.stop();
    clearTimeout(this.#warning);
    this.viewer = viewer;
    const expiresAt = viewer?.expiresAt ?? Number.POSITIVE_INFINITY;
    this.writer.expiresAt = expiresAt;
    const left = expiresAt - Date.now() - warningMs;
    if (left < maxTimeoutMs) this.#warning = setTimeout(() => this.#warn(), Math.max(0, left));
    for (const stream of this.#streams.values()) this.#review(stream);
    this.#watch = watch(viewer, () => this.end(CloseCode.Forbidden, 'Forbidden'));
    await this.#watch.checked;
  }

  addStream(id: string, stream: Stream): void {
    this.#streams.set(id, stream);
    this.#dropMessage(id);
    // The credentials may have been renewed since the operation was started.
    this.#review(stream);
  }

  /**
   * Runs a query or a mutation. Its answer counts as unsent until the operation is over, because graphql-ws keeps it.
   */
  async execute(id: string, operation: PreparedOperation): Promise<Answer> {
    const { release, ...answer } = await this.#unsent.execute(operation, this.#socket, this.address);
    if (release) this.#answers.set(id, release);
    return answer;
  }

  /** Called when the operation with this id is over. */
  forget(id: string): void {
    this.running.delete(id);
    this.#answers.get(id)?.();
    this.#answers.delete(id);
    this.#streams.delete(id);
    this.#dropMessage(id);
  }

  #dropMessage(id: string): void {
    this.account.add(-(this.#messages.get(id) ?? 0));
    this.#messages.delete(id);
    if (!this.#isHeldBack || this.#messages.size > 0) return;
    this.#isHeldBack = false;
    this.resumeReading();
  }

  /** Ends a subscription that the current credentials do not allow. */
  #review({ subscriber, begunBy }: Stream): void {
    const lost = findLostScope(this.viewer, begunBy);
    if (lost) subscriber.end(lackOf(lost));
  }

  /** Tells the client when its credentials expire, so that it can renew them in time. */
  #warn(): void {
    const expiresAt = new Date(this.viewer?.expiresAt ?? 0).toISOString();
    void this.send(JSON.stringify({ type: 'ping', payload: { expiresAt } }));
  }

  #finish(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    clearTimeout(this.#warning);
    this.#watch?.stop();
    for (const cancellation of this.running.values()) cancellation.cancel(clientLeft());
    this.#onEnd(code, reason);
    this.writer.close();
    this.account.close();
  }
}

/** The reason of a cancelled operation; it is never sent. */
export function clientLeft(): ClientError {
  return new ClientError('SERVICE_UNAVAILABLE', 'The client left.');
}
