import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { clientFrame, FrameReader } from '../support/frames.ts';

const text = 1;
const ping = 9;
const pong = 10;
/** In bytes. All other messages of the protocol are shorter. */
const minEventLength = 200;

/** One buffer for all sockets, because a subscriber does not keep the bytes of a chunk. */
const sharedBuffer = Buffer.allocUnsafe(256 * 1024);

interface SubscriberOptions {
  port: number;
  room: string;
  /** Undefined for a server without GraphQL, which finds the room in the URL. */
  query: string | undefined;
  token?: string | undefined;
  localAddress?: string | undefined;
  onEvent: () => void;
}

/** A WebSocket subscriber that counts its events. It parses as little as possible, to need little CPU time. */
export class Subscriber {
  count = 0;
  /** The event with the number that `reset` received, when it has arrived. */
  last: string | undefined;
  failure: string | undefined;
  readonly #options: SubscriberOptions;
  readonly #socket: Socket;
  readonly #subscribed = Promise.withResolvers<void>();
  readonly #frames = new FrameReader((opcode, bytes, start, end) => this.#handleFrame(opcode, bytes, start, end));
  #lastNumber = 0;
  #isOpen = false;
  #head = '';

  constructor(options: SubscriberOptions) {
    this.#options = options;
    this.#socket = connect({
      host: '127.0.0.1',
      port: options.port,
      ...(options.localAddress !== undefined && { localAddress: options.localAddress }),
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

  /** Resolves when the subscription has been sent. */
  get subscribed(): Promise<void> {
    return this.#subscribed.promise;
  }

  get bytesRead(): number {
    return this.#socket.bytesRead;
  }

  /** Sets the count to zero. The text of event `lastNumber` will be stored. */
  reset(lastNumber: number): void {
    this.count = 0;
    this.last = undefined;
    this.#lastNumber = lastNumber;
  }

  /** A reset leaves no socket in TIME_WAIT, which would occupy the port. */
  disconnect(): void {
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
    else
      this.#send({
        type: 'connection_init',
        payload: this.#options.token && { authorization: `Bearer ${this.#options.token}` },
      });
    this.#frames.read(rest);
  }

  #handleFrame(opcode: number, bytes: Buffer, start: number, end: number): void {
    if (opcode === text && end - start >= minEventLength) {
      this.count += 1;
      if (this.count === this.#lastNumber) this.last = bytes.toString('latin1', start, end);
      this.#options.onEvent();
    } else if (opcode === text) this.#handleMessage(JSON.parse(bytes.toString('utf8', start, end)));
    else if (opcode === ping) this.#socket.write(clientFrame(pong, bytes.subarray(start, end)));
    else this.#fail(`opcode ${opcode}: ${bytes.toString('utf8', start, end)}`);
  }

  #handleMessage(message: { type: string }): void {
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
