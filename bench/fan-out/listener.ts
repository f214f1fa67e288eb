import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { clientFrame, FrameReader } from './frame-reader.ts';

const text = 1;
const ping = 9;
const pong = 10;
/** The protocol's own messages are shorter, events are longer. */
const shortestEvent = 200;

/** One buffer for all sockets: what arrives is looked at, counted and forgotten. */
const sharedBuffer = Buffer.allocUnsafe(256 * 1024);

export interface ListenerOptions {
  port: number;
  room: string;
  /** Absent: not GraphQL, the socket's path names the room. */
  query: string | undefined;
  onEvent: () => void;
}

/** A subscriber that costs as little as possible: a socket, a handshake, and a count of events. */
export class Listener {
  count = 0;
  /** The latest event of the block that was asked for, once it has come. */
  last: string | undefined;
  failure: string | undefined;
  readonly #options: ListenerOptions;
  readonly #socket: Socket;
  readonly #subscribed = Promise.withResolvers<void>();
  readonly #frames = new FrameReader((opcode, bytes, start, end) => this.#take(opcode, bytes, start, end));
  #lastNumber = 0;
  #isOpen = false;
  #head = '';

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#socket = connect({
      host: '127.0.0.1',
      port: options.port,
      noDelay: true,
      onread: {
        buffer: sharedBuffer,
        callback: (length) => {
          this.#read(sharedBuffer.subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.on('error', (error) => this.#fail(error.message));
    this.#socket.once('close', () => this.#fail('closed'));
    this.#socket.write(this.#handshake());
  }

  /** Resolves once the subscription was sent. */
  get subscribed(): Promise<void> {
    return this.#subscribed.promise;
  }

  /** Counts from zero, and keeps event number `lastNumber`. */
  reset(lastNumber: number): void {
    this.count = 0;
    this.last = undefined;
    this.#lastNumber = lastNumber;
  }

  /** Without TIME_WAIT, so that the next thousands find free ports. */
  leave(): void {
    this.#socket.resetAndDestroy();
  }

  #handshake(): string {
    const { room, query } = this.#options;
    const path = query === undefined ? `/?room=${room}` : '/graphql';
    const protocol = query === undefined ? '' : 'Sec-WebSocket-Protocol: graphql-transport-ws\r\n';
    return `GET ${path} HTTP/1.1\r\nHost: localhost:${this.#options.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${protocol}\r\n`;
  }

  #read(bytes: Buffer): void {
    if (this.#isOpen) return this.#frames.read(bytes);
    this.#head += bytes.toString('latin1');
    const end = this.#head.indexOf('\r\n\r\n');
    if (end < 0) return;
    if (!this.#head.startsWith('HTTP/1.1 101')) return this.#fail(this.#head);
    this.#isOpen = true;
    const rest = Buffer.from(this.#head.slice(end + 4), 'latin1');
    this.#head = '';
    if (this.#options.query === undefined) this.#subscribed.resolve();
    else this.#send({ type: 'connection_init' });
    this.#frames.read(rest);
  }

  #take(opcode: number, bytes: Buffer, start: number, end: number): void {
    if (opcode === text && end - start >= shortestEvent) {
      this.count += 1;
      if (this.count === this.#lastNumber) this.last = bytes.toString('latin1', start, end);
      this.#options.onEvent();
    } else if (opcode === text) this.#answer(JSON.parse(bytes.toString('utf8', start, end)));
    else if (opcode === ping) this.#socket.write(clientFrame(pong, bytes.subarray(start, end)));
    else this.#fail(`opcode ${opcode}: ${bytes.toString('utf8', start, end)}`);
  }

  #answer(message: { type: string }): void {
    const { room, query } = this.#options;
    if (message.type === 'connection_ack') {
      this.#send({ id: randomUUID(), type: 'subscribe', payload: { query, variables: { room } } });
      this.#subscribed.resolve();
    } else if (message.type === 'ping') this.#send({ type: 'pong' });
    else this.#fail(JSON.stringify(message));
  }

  #send(message: object): void {
    this.#socket.write(clientFrame(text, JSON.stringify(message)));
  }

  #fail(reason: string): void {
    this.failure ??= reason;
    this.#subscribed.reject(new Error(reason));
  }
}
