import type { Socket } from 'node:net';
import { CloseCode } from 'graphql-ws';
import type { WebSocket } from 'ws';
import type { Cancellation } from '../engine/cancellation.ts';
import { ClientError } from '../errors.ts';
import { findLostScope, lackOf } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Watch } from '../identity/watch.ts';
import type { Subscriber } from '../live/subscriber.ts';
import { SocketWriter } from './socket-writer.ts';
import { Starting } from './starting.ts';

/** Closes what asks for too much at once, or what cannot be served now. */
export const tryAgainLater = 1013;
const closeGraceMs = 5_000;
/** So long before the credentials end their owner is told. */
const warningMs = 60_000;
const maxReasonBytes = 123;
/** A timer of Node's goes no further. */
const maxTimeoutMs = 2 ** 31 - 1;

/** One live subscription of a socket. */
interface Stream {
  subscriber: Subscriber;
  /** Whose credentials it began by. */
  begunBy: Viewer | null;
}

export interface ConnectionParts extends Pick<Connection, 'address' | 'authorization' | 'webSocket'> {
  socket: Socket;
}

/** What belongs to one socket. It ends once, from whichever side, and what ran over it ends at once. */
export class Connection {
  readonly address: string;
  /** That the handshake came with; undefined once it has been read. */
  authorization: string | undefined;
  readonly webSocket: WebSocket;
  readonly writer: SocketWriter;
  viewer: Viewer | null = null;
  /** Where operations of these ids went on to before the client came back; each is used once. */
  seen = new Map<string, string>();
  readonly starting = new Starting();
  /** Queries and mutations by id; cancelled when the client leaves, or wants no more of them. */
  readonly running = new Map<string, Cancellation>();
  /** Subscriptions by id. */
  readonly #streams = new Map<string, Stream>();
  #onEnd: (code: number, reason: string) => void = () => {};
  #hasEnded = false;
  #warning: NodeJS.Timeout | undefined;
  #watch: Watch | undefined;

  constructor({ address, authorization, webSocket, socket }: ConnectionParts) {
    this.address = address;
    this.authorization = authorization;
    this.webSocket = webSocket;
    this.writer = new SocketWriter(socket, webSocket);
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
    if (!this.writer.isFull()) return Promise.resolve();
    this.webSocket.pause();
    return new Promise((resolve) => {
      this.writer.onceDrained(() => {
        this.webSocket.resume();
        resolve();
      });
    });
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
    // The credentials may be others by now.
    this.#review(stream);
  }

  /** The operation of this id is over. */
  forget(id: string): void {
    this.running.delete(id);
    this.#streams.delete(id);
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
  }
}

interface Receiving {
  _receiver?: {
    _errored: boolean;
    writableFinished: boolean;
    _fragments: Buffer[];
    _buffers: Buffer[];
    _mask?: Buffer;
  };
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
