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
import { SocketWriter } from './writer.ts';

/** Closes what asks for too much at once, or what cannot be served now. */
export const tryAgainLater = 1013;
const closeGraceMs = 5_000;
/** So long before the credentials end their owner is told. */
const warningMs = 60_000;
const maxReasonBytes = 123;
/** What an operation that has not ended keeps beside its message, and what that takes parsed and as text, measured together. */
const pendingOperationBytes = 4_000;
const bytesPerMessageCharacter = 4;
/** A timer of Node's goes no further. */
const maxTimeoutMs = 2 ** 31 - 1;

/** One live subscription of a socket. */
interface Stream {
  subscriber: Subscriber;
  /** Whose credentials it began by. */
  begunBy: Viewer | null;
}

export interface ConnectionParts extends Pick<Connection, 'address' | 'authorization' | 'webSocket' | 'account'> {
  socket: Socket;
  unsent: UnsentAnswers;
}

/** What belongs to one socket. It ends once, from whichever side, and what ran over it ends at once. */
export class Connection {
  readonly address: string;
  /** That the handshake came with; undefined once it has been read. */
  authorization: string | undefined;
  readonly webSocket: WebSocket;
  readonly writer: SocketWriter;
  readonly #socket: Socket;
  readonly #unsent: UnsentAnswers;
  viewer: Viewer | null = null;
  /** What is kept for it. */
  readonly account: ClientAccount;
  readonly starting = new Starting();
  /** By id, what gives back the bytes of an answer. */
  readonly #answers = new Map<string, () => void>();
  /** Queries and mutations by id; cancelled when the client leaves, or wants no more of them. */
  readonly running = new Map<string, Cancellation>();
  /** The positions that operations had reached before the client reconnected; each is used once. */
  #seen: SeenPositions = new Map();
  /** What is kept of the messages whose operations run, by id, in bytes. */
  readonly #messages = new Map<string, number>();
  #isHeldBack = false;
  /** Bytes of messages that have not come whole. */
  #unfinished = 0;
  /** How many reasons there are not to read. */
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
    // A frame fault: ws closes the socket by itself, with the code that fits.
    webSocket.on('error', () => {
      forgetFrames(webSocket);
      this.#finish(1006, '');
    });
    webSocket.once('close', (code, reason) => {
      this.#finish(code, String(reason));
      // Node makes functions of each socket that V8 allocates among the old objects, where the closed socket stays until
      // those are collected. What hangs on it is to go before.
      forgetFrames(webSocket);
      webSocket.removeAllListeners();
      // One that nobody hears would end the process.
      webSocket.on('error', ignore);
    });
  }

  get isOpen(): boolean {
    return this.webSocket.readyState === this.webSocket.OPEN;
  }

  /** Called once, as soon as either side ends it. */
  set onEnd(listener: (code: number, reason: string) => void) {
    this.#onEnd = listener;
  }

  /** Sends behind the events written so far; resolves once it may send more. A client that does not read is not read either. */
  send(text: string): Promise<void> {
    this.writer.flush();
    // One that left hears nothing; its close says the rest.
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
    if (this.account.isOver) this.end(tryAgainLater, 'Too much is kept for this address');
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
   * The message of an operation that begins is kept until that has ended, or is a stream. While too much is kept for its
   * address, the next messages stay in the network until those that were read are done.
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

  /** Something came from the network: what of it is no whole message is kept. */
  countUnfinished(): void {
    const bytes = unfinishedBytes(this.webSocket);
    if (bytes === this.#unfinished) return;
    this.account.add(bytes - this.#unfinished);
    this.#unfinished = bytes;
    if (bytes > 0 && this.account.isOver) this.end(tryAgainLater, 'Too much is kept for this address');
  }

  /** Closes with what was written so far, and then nothing more; one that does not answer is cut off. */
  end(code: number, reason: string): void {
    if (!this.isOpen) return;
    this.writer.flush();
    this.webSocket.close(code, Buffer.byteLength(reason) > maxReasonBytes ? '' : reason);
    // Its answer is to be read even where it was not read before.
    this.webSocket.resume();
    const timer = setTimeout(() => this.webSocket.terminate(), closeGraceMs).unref();
    // One that comes and goes by the thousand is not held on to.
    this.webSocket.once('close', () => clearTimeout(timer));
    this.#finish(code, reason);
  }

  /**
   * Whose socket it is from now on; `watch` looks after the credentials, and tells when they are no longer good. Resolves
   * once they are known to be.
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
    // The credentials may be others by now.
    this.#review(stream);
  }

  /** Runs a query or a mutation. Its answer counts as unsent until the operation is over: graphql-ws keeps it that long. */
  async execute(id: string, operation: PreparedOperation): Promise<Answer> {
    const { release, ...answer } = await this.#unsent.execute(operation, this.#socket, this.address);
    if (release) this.#answers.set(id, release);
    return answer;
  }

  /** The operation of this id is over. */
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

  /** What goes on by fresh credentials is what they allow. */
  #review({ subscriber, begunBy }: Stream): void {
    const lost = findLostScope(this.viewer, begunBy);
    if (lost) subscriber.end(lackOf(lost));
  }

  /** In time to renew them. */
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

interface Receiving {
  _receiver?: {
    _bufferedBytes: number;
    _messageLength: number;
    _errored: boolean;
    writableFinished: boolean;
    _fragments: Buffer[];
    _buffers: Buffer[];
    _mask?: Buffer;
  };
}

/** A piece takes so much beside its bytes. */
const pieceBytes = 400;

function unfinishedBytes({ _receiver: receiver }: WebSocket & Receiving): number {
  if (!receiver) return 0;
  const pieces = receiver._buffers.length + receiver._fragments.length;
  return receiver._bufferedBytes + receiver._messageLength + pieces * pieceBytes;
}

/** Of a message that will never be whole: ws keeps what it has of it, up to 256 KiB. */
function forgetFrames({ _receiver: receiver }: WebSocket & Receiving): void {
  if (receiver?._errored || receiver?.writableFinished) {
    Object.assign(receiver, { _fragments: [], _buffers: [], _mask: undefined });
  }
}

function ignore(): void {}

/** Why the work of an operation stops; nobody reads it. */
export function clientLeft(): ClientError {
  return new ClientError('SERVICE_UNAVAILABLE', 'The client left.');
}
