import type { ServerResponse } from 'node:http';
import { contain } from '../../common/contain.ts';
import { createConnectionId } from '../../common/ids.ts';
import { type Answer, wrapJson } from '../../engine/answer.ts';
import type { ClientAccount } from '../../engine/limits/client-memory.ts';
import { ClientError } from '../../errors.ts';
import type { StreamTransport } from '../../live/live-counts.ts';
import type { Encoder, Sink, Stream, StreamMessage } from '../../live/stream.ts';
import { type LongConnection, maxBufferedBytes } from '../long-connections.ts';
import type { Exchange } from './exchange.ts';
import { Content } from './responses.ts';

const sseHeartbeatMs = 12_000;
/** The protocol expects a heartbeat every 10 s at the latest. */
const multipartHeartbeatMs = 9_000;

/** How a subscription is written into an HTTP response. */
interface StreamFormat {
  transport: StreamTransport;
  contentType: string;
  heartbeatMs: number;
  heartbeat: string;
  /** The start of the response. `cursor`: the position to resume from before the first event, if there is one. */
  begin(cursor: string | undefined): string;
  encode: Encoder;
  /** The error that ends the stream, and the end of the response. */
  end(body: Answer['body']): string;
}

const complete = 'event: complete\ndata:\n\n';

/** GraphQL over SSE, distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */
export const sse: StreamFormat = {
  transport: 'sse',
  contentType: 'text/event-stream; charset=utf-8',
  heartbeatMs: sseHeartbeatMs,
  heartbeat: ':\n\n',
  begin: (cursor) => (cursor === undefined ? ':\n\n' : `id: ${cursor}\n:\n\n`),
  encode({ cursor, json }) {
    const id = cursor === undefined ? '' : `id: ${cursor}\n`;
    return Buffer.from(`event: next\n${id}data: ${json}\n\n`);
  },
  end: (body) => `event: next\ndata: ${JSON.stringify(body)}\n\n${complete}`,
};

/** Clients read a part when the boundary after it arrives, so each part is written together with that boundary. */
const boundary = '\r\n--graphql';
/** JSON has no line breaks, so it cannot contain the boundary. */
const part = (json: string) => `\r\ncontent-type: application/json\r\n\r\n${json}${boundary}`;
const emptyPart = part('{}');

/**
 * Subscriptions as Apollo's clients request them by default:
 * https://www.apollographql.com/docs/graphos/routing/operations/subscriptions/multipart-protocol
 */
export const multipart: StreamFormat = {
  transport: 'multipart',
  contentType: 'multipart/mixed;boundary=graphql;subscriptionSpec=1.0',
  heartbeatMs: multipartHeartbeatMs,
  heartbeat: emptyPart,
  // A part for the position would be an empty result for the client; it resumes with `after`.
  begin: () => `${boundary}${emptyPart}`,
  encode: ({ json }) => Buffer.from(part(`{"payload":${json}}`)),
  end: ({ errors }) => `${part(JSON.stringify({ payload: null, errors }))}--\r\n`,
};

/** A subscription that runs over the response of an exchange, until either side ends it. */
export class HttpStream implements Sink, LongConnection {
  readonly id: string;
  readonly since: number;
  readonly transport: StreamTransport;
  readonly address: string;
  readonly viewerId: string | null;
  readonly subscriptions = 1;
  lagMs = 0;
  deliveries = 0;
  readonly #exchange: Exchange;
  readonly #stream: Stream;
  readonly #format: StreamFormat;
  /** It counts the bytes that the client has not read. */
  readonly #account: ClientAccount;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #onWritten: () => void;
  /** The bytes that waited for the client when they were last counted. */
  #counted = 0;
  #waiting: (() => void)[] = [];

  constructor(exchange: Exchange, stream: Stream, format: StreamFormat, account: ClientAccount) {
    const { response, viewer, fail, parts } = exchange;
    ({ id: this.id, since: this.since } = createConnectionId());
    this.transport = format.transport;
    this.address = exchange.address;
    this.viewerId = viewer?.user.id ?? null;
    this.#exchange = exchange;
    this.#stream = stream;
    this.#format = format;
    this.#account = account;
    this.#onWritten = contain(() => this.#recount(), fail);
    startStream(response, format.contentType);
    const sendHeartbeat = () => this.#sendHeartbeat();
    this.#heartbeat = setInterval(contain(sendHeartbeat, fail), format.heartbeatMs);
    // The cursors of an inbox are in its events; its client resumes with `after`.
    this.#send(format.begin(typeof stream.cursor === 'string' ? stream.cursor : undefined));
    response.once('close', () => {
      parts.longConnections.delete(this);
      clearInterval(this.#heartbeat);
      // HTTP has no message by which a client says that it leaves.
      stream.stop('disconnected');
    });
    stream.start(this);
    parts.longConnections.add(this);
  }

  get bytesWaiting(): number {
    return this.#exchange.response.writableLength;
  }

  fail(error: unknown): void {
    this.#exchange.fail(error);
  }

  drain(): void {
    this.#stream.stop('server_stop');
    this.disconnect();
  }

  endByOperator(): void {
    this.#stream.end(new ClientError('CONNECTION_ENDED'));
  }

  write(message: StreamMessage, at?: number): void {
    const now = Date.now();
    // The timer that ends the stream may be late.
    if (now >= (this.#exchange.viewer?.expiresAt ?? Number.POSITIVE_INFINITY)) return;
    if (at !== undefined) this.lagMs = Math.max(0, now - at);
    const bytes = message.encode(this.#format.encode);
    if (bytes.length > maxBufferedBytes && this.#account.isNearLimit) return this.#stream.endAsSlowConsumer(message);
    this.#send(bytes);
    if (at !== undefined) this.deliveries += 1;
    if (this.#counted > 0 && this.#account.isAddressOver) this.#disconnectUnread();
  }

  isFull(): boolean {
    const waiting = this.bytesWaiting;
    return waiting > maxBufferedBytes || (waiting > 0 && this.#account.isNearLimit);
  }

  onceDrained(resume: () => void): void {
    this.#waiting.push(resume);
  }

  /** HTTP has no message by which a client says what it has read. */
  onceRead(resume: () => void): void {
    this.onceDrained(resume);
  }

  end(error: ClientError): void {
    // Nothing may be written after the end, even if the client has not read the end yet.
    clearInterval(this.#heartbeat);
    const { response, requestId, parts } = this.#exchange;
    response.end(this.#format.end(parts.engine.refuse(error, { requestId }).body));
  }

  /** Ends the response without an end of the format, so that the client reconnects. */
  disconnect(): void {
    clearInterval(this.#heartbeat);
    this.#exchange.response.end();
  }

  /**
   * Only after a write is it known whether the system accepts the bytes: one event for each of many streams could exceed
   * the memory budget of the address. The client resumes from the latest event that it has received.
   */
  #disconnectUnread(): void {
    this.#stream.stop('connection_closed');
    clearInterval(this.#heartbeat);
    this.#exchange.response.destroy();
    this.#recount();
  }

  /** No heartbeat is added while the client does not read. */
  #sendHeartbeat(): void {
    if (!this.#exchange.response.writableNeedDrain) this.#send(this.#format.heartbeat);
  }

  /** Counts the bytes: a stream that waits for all of them to be read, also the heartbeats, is notified. */
  #send(content: string | Buffer): void {
    this.#exchange.response.write(content, this.#onWritten);
    this.#recount();
  }

  #recount(): void {
    const waiting = this.#exchange.response.destroyed ? 0 : this.bytesWaiting;
    this.#account.add(waiting - this.#counted);
    this.#counted = waiting;
    if (waiting > 0 || this.#waiting.length === 0) return;
    const resumed = this.#waiting;
    this.#waiting = [];
    for (const resume of resumed) resume();
  }
}

/** Writes the answer of a query or a mutation as a stream, for a client that prefers text/event-stream. */
export function writeAnswerAsStream(exchange: Exchange, answer: Answer): void {
  startStream(exchange.response, sse.contentType, answer.status);
  new Content(exchange, wrapJson(answer, 'event: next\ndata: ', `\n\n${complete}`)).flush();
}

function startStream(response: ServerResponse, contentType: string, status = 200): void {
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  });
}
