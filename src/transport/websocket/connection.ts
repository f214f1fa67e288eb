import type { Socket } from 'node:net';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import { contain, containedEmit } from '../../common/contain.ts';
import { createConnectionId } from '../../common/ids.ts';
import { type ClientAccount, socketBytes } from '../../engine/limits/client-memory.ts';
import { maxTimeoutMs, type Watch, type WatchCredentials } from '../../identity/credential-watch.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { StreamEnd } from '../../live/live-counts.ts';
import type { Log } from '../../log/log.ts';
import type { LongConnection } from '../long-connections.ts';
import { stopParsing, takeUnparsed, unfinishedBytes } from './receiver.ts';
import { SocketWriter } from './writer.ts';

/** The client is warned this long before its credentials expire. */
const warningMs = 60_000;
/** The close code for a client that exceeds a limit, and for a client that cannot be served now. */
export const tryAgainLater = 1013;
/** The close code for an exception in the work of the connection. */
const internalError = 1011;
/** A client may connect again at once, and the database needs a moment. */
const unavailableMs = 1_000;
const maxReasonBytes = 123;
/** The close code for a server that stops: clients of graphql-ws reconnect. */
export const serviceRestart = 1012;
/** The close code for a connection that an operator ends: clients of graphql-ws do not connect again by themselves. */
const endedByOperator = 1008;
/** The code of ws for a socket that ended without a close frame of the client. */
const noCloseFrame = 1006;
/**
 * The memory of an operation that is not over: a fixed part, and a part for its message as text and parsed (measured).
 */
const pendingOperationBytes = 4_000;
const bytesPerMessageCharacter = 4;

/** The cursors that each operation had reached before its client reconnected, by the operation's id. */
export type SeenCursors = Map<string, readonly string[]>;

type ConnectionParts = Pick<WebSocketConnection, 'address' | 'webSocket' | 'account' | 'socket'>;

/** An operation that is not over. */
interface OpenOperation {
  /** Ends it without a message, and stops work that nobody waits for. */
  leave(): void;
  /** Ends a subscription that the current credentials do not allow. */
  checkScope(viewer: Viewer | null): void;
  /** Stops a subscription without a message: its end is that of the connection. */
  stopStream(): void;
  /** Whether it is a subscription that has begun. */
  readonly isStream: boolean;
}

/** The state of one WebSocket. It ends once, from either side; its operations are then cancelled. */
export class WebSocketConnection implements LongConnection {
  /** Its id in the inventory and in the log. */
  readonly id: string;
  readonly since: number;
  readonly transport = 'websocket';
  readonly address: string;
  readonly webSocket: WebSocket;
  readonly socket: Socket;
  readonly writer: SocketWriter;
  /** Null without credentials. A client can renew them without a new connection. */
  viewer: Viewer | null = null;
  /** Counts the memory that the server keeps for this connection. */
  readonly account: ClientAccount;
  /** Resolves when all operations that have arrived so far have started. */
  allStarted: Promise<unknown> = Promise.resolve();
  /** The operations that are not over, by id. */
  readonly operations = new Map<string, OpenOperation>();
  deliveries = 0;
  hasEnded = false;
  /** Called once, as soon as either side ends it. */
  onEnd: () => void = () => {};
  /** Why the streams end that end with their operation. */
  streamEnd: StreamEnd = 'client';
  /** The cursors that operations had reached before the client reconnected; those of an operation are used once. */
  seen: SeenCursors = new Map();
  /** The number of messages that are counted by `holdMessage`. */
  #heldMessages = 0;
  readonly #log: Pick<Log, 'error'>;
  #isReadingPaused = false;
  /** Bytes of frames that wait, and of incomplete messages. */
  #unfinished = 0;
  /** The number of calls of `pauseReading` without a `resumeReading`. */
  #pauses = 0;
  #expiryWarning: NodeJS.Timeout | undefined;
  #credentialWatch: Watch | undefined;
  /** The timer of `endUnavailable`. */
  #unavailable: NodeJS.Timeout | undefined;
  /** The close frame that is sent as soon as running queries and mutations are answered. */
  #pendingClose: { code: number; reason: string } | undefined;

  constructor({ address, webSocket, socket, account }: ConnectionParts, log: Pick<Log, 'error'>) {
    this.#log = log;
    ({ id: this.id, since: this.since } = createConnectionId());
    socket.emit = webSocket.emit = containedEmit((_, error) => this.fail(error));
    this.socket = socket;
    this.address = address;
    this.webSocket = webSocket;
    this.account = account;
    account.add(socketBytes);
    this.writer = new SocketWriter(socket, webSocket, account, this.fail);
    // An invalid frame: ws itself closes the socket, with the appropriate code.
    webSocket.on('error', () => this.#finish(noCloseFrame));
    webSocket.once('close', (code) => this.#finish(code));
  }

  /** Whether it starts no more operations and no more streams. */
  get isEnding(): boolean {
    return this.#pendingClose !== undefined;
  }

  get isOpen(): boolean {
    return this.webSocket.readyState === this.webSocket.OPEN;
  }

  get viewerId(): string | null {
    return this.viewer?.user.id ?? null;
  }

  get subscriptions(): number {
    return this.operations.values().reduce((count, { isStream }) => count + Number(isStream), 0);
  }

  get bytesWaiting(): number {
    return this.socket.writableLength;
  }

  get lagMs(): number {
    return this.writer.lagMs;
  }

  /**
   * Sends a text after the events written so far; resolves when more may be sent. While the client does not read, its
   * messages are not read either.
   */
  send(text: string | Buffer): Promise<void> {
    this.writer.flush();
    // A client that has disconnected receives nothing; the `close` event does the rest.
    if (!this.isOpen) return Promise.resolve();
    this.webSocket.send(text, { binary: false }, () => {});
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

  setSeen(seen: SeenCursors): void {
    this.seen = seen;
    for (const [id, cursors] of seen) this.account.add(bytesOfSeen(id, cursors));
    if (this.account.isOver) this.end(tryAgainLater, 'Too much memory is held for this address');
  }

  takeSeen(id: string): readonly string[] | undefined {
    const cursors = this.seen.get(id);
    if (cursors === undefined) return undefined;
    this.seen.delete(id);
    this.account.add(-bytesOfSeen(id, cursors));
    return cursors;
  }

  /**
   * Counts the message of a new operation until `dropMessage`, when the operation is over or is a stream. While the memory
   * budget of its address is almost used up, no further messages are read until the operations already read are done.
   * Without this, a client that resumes 100 subscriptions of 8,000 characters would exceed the budget of its socket.
   * Returns the number of bytes.
   */
  holdMessage(length: number): number {
    const bytes = pendingOperationBytes + bytesPerMessageCharacter * length;
    this.#heldMessages += 1;
    this.account.add(bytes);
    if (!this.#isReadingPaused && this.account.isNearLimit) {
      this.#isReadingPaused = true;
      this.pauseReading();
    }
    return bytes;
  }

  dropMessage(bytes: number): void {
    this.#heldMessages -= 1;
    this.account.add(-bytes);
    if (this.#heldMessages > 0) return;
    if (this.#pendingClose) this.end(this.#pendingClose.code, this.#pendingClose.reason);
    if (!this.#isReadingPaused) return;
    this.#isReadingPaused = false;
    this.resumeReading();
  }

  /** Reads no frame after this one until `resumeReading`. False if no further frame has arrived. */
  deferFrames(): boolean {
    const unparsed = takeUnparsed(this.webSocket);
    if (unparsed.length === 0) return false;
    this.pauseReading();
    this.socket.unshift(unparsed);
    return true;
  }

  /** Called when data has arrived: counts the bytes of frames that wait, and of the incomplete message that ws keeps. */
  countUnfinished(): void {
    const bytes = unfinishedBytes(this.webSocket) + this.socket.readableLength;
    if (bytes === this.#unfinished) return;
    this.account.add(bytes - this.#unfinished);
    this.#unfinished = bytes;
    if (bytes > 0 && this.account.isOver) this.end(tryAgainLater, 'Too much memory is held for this address');
  }

  readonly fail = (error: unknown): void => {
    this.#log.error({ connectionId: this.id, err: error }, 'the work of a connection failed');
    try {
      this.end(internalError, 'Internal server error');
    } catch {
      this.webSocket.terminate();
    }
  };

  /** Closes it because the server stops. Clients would send operations that are not answered again to another server. */
  drain(): void {
    this.#endWhenAnswered(serviceRestart, 'Shutting down');
  }

  endByOperator(): void {
    this.end(endedByOperator, 'Ended by an operator');
  }

  /** Closes it soon, because a stream cannot begin or continue now: its client connects again, and resumes. */
  endUnavailable(): void {
    const end = () => this.#endWhenAnswered(tryAgainLater, 'Try again later');
    this.#unavailable ??= setTimeout(contain(end, this.fail), unavailableMs).unref();
  }

  /**
   * Sets the viewer, and closes it when the credentials become invalid. Resolves when the credentials have been checked.
   */
  async setViewer(viewer: Viewer | null, watchCredentials: WatchCredentials): Promise<void> {
    if (this.hasEnded) return;
    this.#stopWatching();
    this.viewer = viewer;
    const expiresAt = viewer?.expiresAt ?? Number.POSITIVE_INFINITY;
    this.writer.expiresAt = expiresAt;
    const left = expiresAt - Date.now() - warningMs;
    // So that the client can renew them in time.
    const payload = { expiresAt: new Date(expiresAt) };
    const warn = contain(() => this.send(JSON.stringify({ type: 'ping', payload })), this.fail);
    if (left < maxTimeoutMs) this.#expiryWarning = setTimeout(warn, Math.max(0, left));
    for (const operation of this.operations.values()) operation.checkScope(viewer);
    const revoke = contain(() => this.#revoke(), this.fail);
    this.#credentialWatch = watchCredentials(viewer, revoke);
    await this.#credentialWatch.checked;
  }

  #stopWatching(): void {
    clearTimeout(this.#expiryWarning);
    this.#credentialWatch?.stop();
  }

  /**
   * Closes it because its credentials are no longer valid. Its streams end at once; but the answer to `changePassword`,
   * which revokes the token that it was sent with, contains the next token.
   */
  #revoke(): void {
    for (const operation of this.operations.values()) operation.stopStream();
    this.#endWhenAnswered(CloseCode.Forbidden, 'Forbidden');
  }

  /** Messages that arrive from now on are ignored: their operations never start. */
  #endWhenAnswered(code: number, reason: string): void {
    this.#pendingClose = { code, reason };
    if (this.#heldMessages === 0) this.end(code, reason);
  }

  /**
   * Sends the pending frames and a close frame. What the client sends from then on is read, so that its system does not
   * discard the close frame, but not parsed. ws destroys the socket if the client does not close it.
   */
  end(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.streamEnd = code === serviceRestart ? 'server_stop' : 'connection_closed';
    this.writer.flush();
    this.webSocket.close(code, Buffer.byteLength(reason) > maxReasonBytes ? '' : reason);
    stopParsing(this.webSocket);
    this.socket.end();
    this.webSocket.resume();
    this.#finish(code);
  }

  #finish(code: number): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    if (code === noCloseFrame && this.streamEnd === 'client') this.streamEnd = 'disconnected';
    this.#stopWatching();
    clearTimeout(this.#unavailable);
    for (const operation of this.operations.values()) contain(() => operation.leave(), this.fail)();
    this.onEnd();
    this.writer.close();
    this.account.close();
  }
}

/** The memory of an entry in bytes: its strings, and its place in the map. */
function bytesOfSeen(id: string, cursors: readonly string[]): number {
  return 150 + 2 * id.length + cursors.reduce((sum, { length }) => sum + 40 + 2 * length, 0);
}
