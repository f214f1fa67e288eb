import { once } from 'node:events';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import WebSocket, { type RawData } from 'ws';

/** A message of graphql-transport-ws, as it came. */
export interface Message {
  type: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  payload?: any;
}

export interface ProtocolSocketOptions {
  protocols?: string[];
  headers?: Record<string, string>;
  /** The payload of `connection_init`, sent and acknowledged before the socket is handed over; false: nothing is sent. */
  init?: Record<string, unknown> | false;
}

/** A WebSocket without any client library, so that a test says what it wants, right or wrong. */
export class ProtocolSocket {
  readonly webSocket: WebSocket;
  /** Everything that came. */
  readonly received: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Called with each message as it comes. */
  onMessage: ((message: Message) => void) | undefined;
  #isClosed = false;
  #taken = 0;
  #wake: () => void = () => {};

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('error', () => {});
    webSocket.on('message', (data: RawData) => {
      const message: Message = JSON.parse(String(data));
      this.received.push(message);
      this.onMessage?.(message);
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      webSocket.once('close', (code, reason) => {
        this.#isClosed = true;
        resolve({ code, reason: String(reason) });
        this.#wake();
      });
    });
  }

  /** Opened and, unless told otherwise, initialised; gone when the test is. */
  static async open(url: string, options: ProtocolSocketOptions = {}): Promise<ProtocolSocket> {
    const { protocols = ['graphql-transport-ws'], headers = {}, init = {} } = options;
    const webSocket = new WebSocket(url, protocols, { headers });
    const socket = new ProtocolSocket(webSocket);
    onTestFinished(() => webSocket.terminate());
    await once(webSocket, 'open');
    if (init === false) return socket;
    socket.send({ type: 'connection_init', payload: init });
    await socket.take(({ type }) => type === 'connection_ack');
    return socket;
  }

  /** Several arrive in one breath. */
  send(...messages: Message[]): void {
    this.rawSocket.cork();
    for (const message of messages) this.webSocket.send(JSON.stringify(message));
    this.rawSocket.uncork();
  }

  subscribe(id: string, query: string, variables?: Record<string, unknown>): void {
    this.send({ type: 'subscribe', id, payload: { query, ...(variables && { variables }) } });
  }

  /** Subscribes, and waits for the word that it is live. */
  async follow(id: string, query: string, variables?: Record<string, unknown>): Promise<string> {
    this.subscribe(id, query, variables);
    const { payload } = await this.take(({ type, payload }) => type === 'ping' && payload?.live?.[id] !== undefined);
    return payload.live[id];
  }

  /** The next message that fits, of those not yet taken; those before it are passed over. */
  async take(fits: (message: Message) => boolean = () => true): Promise<Message> {
    for (;;) {
      while (this.#taken < this.received.length) {
        const message = this.received[this.#taken];
        this.#taken += 1;
        if (message && fits(message)) return message;
      }
      if (this.#isClosed) throw new Error(`it was closed; it got ${JSON.stringify(this.received.slice(-5))}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** The payloads of the `next` messages of one operation so far. */
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  nexts(id: string): any[] {
    return this.received
      .filter((message) => message.type === 'next' && message.id === id)
      .map(({ payload }) => payload);
  }

  /** Everything that was sent before now has been handled: the server answers in order. */
  async settle(): Promise<void> {
    const marker = `settle ${this.received.length}`;
    this.send({ type: 'ping', payload: { marker } });
    await this.take(({ type, payload }) => type === 'pong' && payload?.marker === marker);
  }

  /** The bytes below, to be left unread. */
  get rawSocket(): Socket {
    return (this.webSocket as unknown as { _socket: Socket })._socket;
  }
}
