import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import WebSocket from 'ws';
import type { ReplyError } from './postroom.ts';

/** A queue of received items, in the order of arrival. */
export class Inbox<T> {
  readonly all: T[] = [];
  #read = 0;
  #waiting: (() => void) | undefined;
  #reason: unknown;
  #isClosed = false;

  push(item: T): void {
    this.all.push(item);
    this.#wake();
  }

  /** Ends the queue; pending and later calls of `next` reject with `reason`. */
  close(reason: unknown): void {
    this.#isClosed = true;
    this.#reason = reason;
    this.#wake();
  }

  /** The next item that was not returned yet. */
  async next(): Promise<T> {
    for (;;) {
      const item = this.all[this.#read];
      if (item !== undefined) {
        this.#read += 1;
        return item;
      }
      if (this.#isClosed) throw this.#reason;
      await new Promise<void>((resolve) => {
        this.#waiting = resolve;
      });
    }
  }

  async take(count: number): Promise<T[]> {
    const items: T[] = [];
    while (items.length < count) items.push(await this.next());
    return items;
  }

  #wake(): void {
    this.#waiting?.();
    this.#waiting = undefined;
  }
}

export interface Result {
  // biome-ignore lint/suspicious/noExplicitAny: its shape is the subscription's.
  data?: any;
  errors?: ReplyError[];
  extensions: { live: { cursor: string } };
}

/** One subscription over a `LiveSocket`. */
export interface LiveOperation {
  /** The cursor from which the subscription is live. */
  start: Promise<string>;
  results: Inbox<Result>;
  /** The errors of its `error` message. */
  refused: Promise<ReplyError[]>;
}

interface OpenOperation {
  started: (cursor: string) => void;
  refuse: (errors: ReplyError[]) => void;
  results: Inbox<Result>;
}

/** A minimal graphql-transport-ws client that shows every message and never retries. */
export class LiveSocket {
  readonly webSocket: WebSocket;
  readonly closed: Promise<{ code: number; reason: string }>;
  readonly #operations = new Map<string, OpenOperation>();
  readonly #acknowledged = Promise.withResolvers<void>();

  constructor(url: string) {
    this.webSocket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    this.webSocket.on('message', (data) => this.#receive(JSON.parse(String(data))));
    this.webSocket.on('error', () => {});
    this.#acknowledged.promise.catch(() => {});
    this.closed = new Promise((resolve) => {
      this.webSocket.once('close', (code, reason) => {
        const error = new Error(`closed with ${code}`);
        this.#acknowledged.reject(error);
        for (const { results } of this.#operations.values()) results.close(error);
        resolve({ code, reason: String(reason) });
      });
    });
  }

  static async open(url: string, payload?: unknown): Promise<LiveSocket> {
    const socket = new LiveSocket(url);
    await once(socket.webSocket, 'open');
    socket.send({ type: 'connection_init', payload });
    await socket.#acknowledged.promise;
    return socket;
  }

  send(message: object): void {
    this.webSocket.send(JSON.stringify(message));
  }

  subscribe(id: string, query: string, variables?: Record<string, unknown>): LiveOperation {
    const start = Promise.withResolvers<string>();
    const refused = Promise.withResolvers<ReplyError[]>();
    const results = new Inbox<Result>();
    this.#operations.set(id, { started: start.resolve, refuse: refused.resolve, results });
    this.send({ type: 'subscribe', id, payload: { query, variables } });
    return { start: start.promise, results, refused: refused.promise };
  }

  complete(id: string): void {
    this.send({ type: 'complete', id });
  }

  async close(): Promise<void> {
    this.webSocket.close(1000);
    await this.closed;
  }

  // biome-ignore lint/suspicious/noExplicitAny: its shape is the message type's.
  #receive({ type, id, payload }: any): void {
    const operation = this.#operations.get(id);
    switch (type) {
      case 'connection_ack':
        return this.#acknowledged.resolve();
      case 'ping':
        for (const [id, cursor] of Object.entries(payload?.live ?? {})) {
          this.#operations.get(id)?.started(String(cursor));
        }
        return this.send({ type: 'pong' });
      case 'next':
        return operation?.results.push(payload);
      case 'error':
        operation?.refuse(payload);
        return operation?.results.close(new Error(JSON.stringify(payload)));
      case 'complete':
        return operation?.results.close(new Error('complete'));
    }
  }
}

export interface StreamEvent {
  event: string | undefined;
  id: string | undefined;
  data: string | undefined;
}

export interface StreamOptions {
  query: string;
  variables?: Record<string, unknown>;
  lastEventId?: string | undefined;
  token?: string | undefined;
}

/** A minimal client of server-sent events. */
export class EventStream {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** The events of type `next`. */
  readonly results = new Inbox<Result>();
  /** The `id` that an EventSource would send as Last-Event-ID. */
  lastEventId: string | undefined;
  /** Resolves with the first `id`: the cursor from which the stream is live. */
  readonly start: Promise<string>;
  readonly closed: Promise<void>;
  readonly #request: ClientRequest;
  readonly #started = Promise.withResolvers<string>();
  #rest = '';

  constructor(request: ClientRequest, response: IncomingMessage) {
    this.status = response.statusCode ?? 0;
    this.headers = response.headers;
    this.#request = request;
    this.start = this.#started.promise;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#read(text));
    response.on('error', () => {});
    this.closed = new Promise((resolve) => {
      response.once('close', () => {
        this.results.close(new Error('the stream ended'));
        resolve();
      });
    });
  }

  /** Rejects if there is no response. For a response that is no stream, call `readBody`. */
  static async open(url: string, { query, variables, lastEventId, token }: StreamOptions): Promise<EventStream> {
    const body = JSON.stringify({ query, variables });
    const call = request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream, application/graphql-response+json;q=0.9',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
    });
    call.end(body);
    const [response] = (await once(call, 'response')) as [IncomingMessage];
    call.on('error', () => {});
    return new EventStream(call, response);
  }

  /** The body of a response that is no stream. */
  async readBody(): Promise<{ errors: ReplyError[] }> {
    await this.closed;
    return JSON.parse(this.#rest);
  }

  close(): void {
    this.#request.destroy();
  }

  #read(text: string): void {
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      this.#take(parseBlock(this.#rest.slice(0, end)));
      this.#rest = this.#rest.slice(end + 2);
    }
  }

  #take({ event, id, data }: StreamEvent): void {
    if (id !== undefined) {
      this.lastEventId = id;
      this.#started.resolve(id);
    }
    if (event === 'next' && data !== undefined) this.results.push(JSON.parse(data));
    if (event === 'complete') this.results.close(new Error('complete'));
  }
}

function parseBlock(block: string): StreamEvent {
  const fields = new Map(
    block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  return { event: fields.get('event'), id: fields.get('id'), data: fields.get('data') };
}

/** Decodes a cursor, for tests that count events or forge cursors. */
export function openCursor(cursor: string): { mark: string; seq: number; roomId: string } {
  const [mark = '', seq = '', roomId = ''] = Buffer.from(cursor, 'base64url').toString().split('.');
  return { mark, seq: Number(seq), roomId };
}

export function forgeCursor(mark: string, seq: number | string, roomId: string): string {
  return Buffer.from(`${mark}.${seq}.${roomId}`).toString('base64url');
}
