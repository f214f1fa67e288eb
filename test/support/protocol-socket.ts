import { once } from 'node:events';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import WebSocket, { type RawData } from 'ws';

export interface Message {
  type: string;
  id?: string;
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
  payload?: any;
}

export interface ProtocolSocketOptions {
  protocols?: string[];
  headers?: Record<string, string>;
  /** The payload of `connection_init`, which `open` sends and waits to be acknowledged; false sends nothing. */
  init?: Record<string, unknown> | false;
}

/** A WebSocket without a client library, so that a test can send any message, valid or invalid. */
export class ProtocolSocket {
  readonly webSocket: WebSocket;
  /** All messages received so far. */
  readonly received: Message[] = [];
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Called with each message when it arrives. */
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

  /** Opens the socket and, by default, initialises it; the socket is closed after the test. */
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

  /** Sends the messages in one write. */
  send(...messages: Message[]): void {
    this.rawSocket.cork();
    for (const message of messages) this.webSocket.send(JSON.stringify(message));
    this.rawSocket.uncork();
  }

  subscribe(id: string, query: string, variables?: Record<string, unknown>): void {
    this.send({ type: 'subscribe', id, payload: { query, ...(variables && { variables }) } });
  }

  /** Subscribes and waits until the subscription is live. Returns its start cursor. */
  async follow(id: string, query: string, variables?: Record<string, unknown>): Promise<string> {
    this.subscribe(id, query, variables);
    const { payload } = await this.take(({ type, payload }) => type === 'ping' && payload?.live?.[id] !== undefined);
    return payload.live[id];
  }

  /** The next matching message that was not taken yet; earlier messages are skipped. */
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

  /** Resolves when everything sent before was handled: the server answers in order. */
  async settle(): Promise<void> {
    const marker = `settle ${this.received.length}`;
    this.send({ type: 'ping', payload: { marker } });
    await this.take(({ type, payload }) => type === 'pong' && payload?.marker === marker);
  }

  /** The underlying socket; a test pauses it to leave bytes unread. */
  get rawSocket(): Socket {
    return (this.webSocket as unknown as { _socket: Socket })._socket;
  }
}
