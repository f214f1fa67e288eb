import { once } from 'node:events';
import type { Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import WebSocket, { type RawData } from 'ws';
import type { ReplyError } from '../server/postroom.ts';
import { ReceivedQueue } from './received-queue.ts';

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
  init?: unknown;
}

/** A result of a subscription. */
export interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
  data?: any;
  errors?: ReplyError[];
  extensions: { live: { cursor: string } };
}

/** One subscription. */
export interface LiveOperation {
  /** The cursor from which the subscription is live. */
  start: Promise<string>;
  /** Of an inbox: the cursor of its user's log, by the user's id. It arrives before `start` resolves. */
  userCursor: Record<string, string>;
  results: ReceivedQueue<Result>;
  /** The errors of its `error` message. */
  refused: Promise<ReplyError[]>;
}

interface OpenOperation {
  started: (cursor: string) => void;
  refuse: (errors: ReplyError[]) => void;
  results: ReceivedQueue<Result>;
  userCursor: Record<string, string>;
}

/** A WebSocket without a client library, so that a test can send any message, valid or invalid. It never retries. */
export class ProtocolSocket {
  readonly webSocket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  /** Called with each message when it arrives. */
  onMessage: ((message: Message) => void) | undefined;
  readonly #queue = new ReceivedQueue<Message>();
  readonly #operations = new Map<string, OpenOperation>();

  constructor(webSocket: WebSocket) {
    this.webSocket = webSocket;
    webSocket.on('error', () => {});
    webSocket.on('message', (data: RawData) => this.#receive(JSON.parse(String(data))));
    this.closed = new Promise((resolve) => {
      webSocket.once('close', (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#end(code);
      });
    });
  }

  /** Opens the socket and, by default, initialises it; the socket is closed after the test. */
  static async open(url: string, options: ProtocolSocketOptions = {}): Promise<ProtocolSocket> {
    const { protocols = ['graphql-transport-ws'], headers = {}, init = {} } = options;
    const webSocket = new WebSocket(url.replace('http', 'ws'), protocols, { headers });
    const socket = new ProtocolSocket(webSocket);
    onTestFinished(() => webSocket.terminate());
    await once(webSocket, 'open');
    if (init === false) return socket;
    socket.send({ type: 'connection_init', payload: init });
    await socket.take(({ type }) => type === 'connection_ack');
    return socket;
  }

  /** All messages received so far. */
  get received(): readonly Message[] {
    return this.#queue.all;
  }

  /** Sends the messages in one write. */
  send(...messages: Message[]): void {
    this.rawSocket.cork();
    for (const message of messages) this.webSocket.send(JSON.stringify(message));
    this.rawSocket.uncork();
  }

  subscribe(id: string, query: string, variables?: Record<string, unknown>): LiveOperation {
    const start = Promise.withResolvers<string>();
    const refused = Promise.withResolvers<ReplyError[]>();
    const results = new ReceivedQueue<Result>();
    const userCursor = {};
    this.#operations.set(id, { started: start.resolve, refuse: refused.resolve, results, userCursor });
    this.send({ type: 'subscribe', id, payload: { query, variables } });
    return { start: start.promise, results, refused: refused.promise, userCursor };
  }

  complete(id: string): void {
    this.send({ type: 'complete', id });
  }

  /** Subscribes and waits until the subscription is live. Returns its start cursor. */
  async follow(id: string, query: string, variables?: Record<string, unknown>): Promise<string> {
    this.subscribe(id, query, variables);
    const { payload } = await this.take(({ type, payload }) => type === 'ping' && payload?.live?.[id] !== undefined);
    return payload.live[id];
  }

  /** The next matching message that was not taken yet; earlier messages are skipped. */
  take(fits?: (message: Message) => boolean): Promise<Message> {
    return this.#queue.next(fits);
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

  async close(): Promise<void> {
    this.webSocket.close(1000);
    await this.closed;
  }

  /** The underlying socket; a test pauses it to leave bytes unread. */
  get rawSocket(): Socket {
    return (this.webSocket as unknown as { _socket: Socket })._socket;
  }

  #receive(message: Message): void {
    this.#queue.push(message);
    this.onMessage?.(message);
    const { type, id = '', payload } = message;
    const operation = this.#operations.get(id);
    if (type === 'next') operation?.results.push(payload);
    if (type === 'error') operation?.refuse(payload);
    if (type === 'error') operation?.results.close(() => JSON.stringify(payload));
    if (type === 'complete') operation?.results.close(() => 'complete');
    if (type !== 'ping') return;
    for (const [id, cursors] of Object.entries(payload?.cursors ?? {}))
      Object.assign(this.#operations.get(id)?.userCursor ?? {}, cursors);
    for (const [id, cursor] of Object.entries(payload?.live ?? {})) this.#operations.get(id)?.started(cursor as string);
  }

  #end(code: number): void {
    this.#queue.close(() => `closed with ${code}; it received ${JSON.stringify(this.received.slice(-5))}`);
    for (const { results } of this.#operations.values()) results.close(() => `closed with ${code}`);
  }
}
