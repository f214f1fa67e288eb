import type { ServerResponse } from 'node:http';
import { type Answer, jsonOf } from '../engine/answer.ts';
import type { ClientAccount } from '../engine/limits/client-memory.ts';
import type { ClientError } from '../errors.ts';
import type { Frame, Sink, Stream } from '../live/stream.ts';
import type { Drain, LongConnection } from './drain.ts';
import { Content, type Exchange } from './http/responses.ts';
import { surround } from './surround.ts';
import { maxBufferedBytes } from './websocket/writer.ts';

/* GraphQL over SSE, distinct connections: https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md */

const heartbeatMs = 12_000;
const complete = 'event: complete\ndata:\n\n';

/** Writes the answer of a query or a mutation as a stream, for a client that prefers text/event-stream. */
export function writeAnswerAsStream(exchange: Exchange, answer: Answer): void {
  startStream(exchange.response, answer.status);
  const content = surround('event: next\ndata: ', jsonOf(answer), `\n\n${complete}`);
  new Content(exchange, { content, bytes: Buffer.byteLength(content) }).flush();
}

export interface EventStreamOptions {
  /** When the credentials expire, in milliseconds since 1970; undefined means never. */
  expiresAt: number | undefined;
  /** Formats the reason of an end. */
  refuse: (error: ClientError) => Answer;
  /** The client's account; it counts the bytes that the client has not read. */
  account: ClientAccount;
  drain: Drain;
}

/** Runs a subscription over the response, until either side ends it. */
export function runEventStream(
  response: ServerResponse,
  stream: Stream,
  { expiresAt = Number.POSITIVE_INFINITY, refuse, account, drain }: EventStreamOptions,
): void {
  startStream(response);
  const heartbeat = setInterval(() => {
    // No heartbeat is added while the client does not read.
    if (!response.writableNeedDrain) response.write(':\n\n');
  }, heartbeatMs);
  const stopHeartbeat = () => clearInterval(heartbeat);
  // The position to resume from before the first event.
  response.write(`id: ${stream.cursor}\n:\n\n`);
  const endAsSlowConsumer = () => stream.endAsSlowConsumer();
  const sink = new EventStreamSink(response, { expiresAt, refuse, account, stopHeartbeat, endAsSlowConsumer });
  const connection: LongConnection = {
    drain() {
      stream.stop('server_stop');
      sink.disconnect();
    },
  };
  response.once('close', () => {
    drain.delete(connection);
    stopHeartbeat();
    stream.stop('client');
  });
  stream.start(sink);
  drain.add(connection);
}

function startStream(response: ServerResponse, status = 200): void {
  response.writeHead(status, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  });
}

interface SinkOptions {
  expiresAt: number;
  refuse: (error: ClientError) => Answer;
  account: ClientAccount;
  /** Nothing may be written after the end, even if the client has not read the end yet. */
  stopHeartbeat: () => void;
  /** Ends the stream because the client is too slow to receive an event. */
  endAsSlowConsumer: () => void;
}

class EventStreamSink implements Sink {
  readonly #response: ServerResponse;
  readonly #options: SinkOptions;
  /** The bytes that waited for the client when they were last counted. */
  #counted = 0;
  #waiting: (() => void)[] = [];

  constructor(response: ServerResponse, options: SinkOptions) {
    this.#response = response;
    this.#options = options;
  }

  write(frame: Frame): void {
    // The timer that ends the stream may be late.
    if (Date.now() >= this.#options.expiresAt) return;
    const bytes = frame.encode(encodeEvent);
    if (bytes.length > maxBufferedBytes && this.#options.account.isNearLimit) return this.#options.endAsSlowConsumer();
    this.#response.write(bytes, () => this.#recount());
    this.#recount();
  }

  isFull(): boolean {
    const waiting = this.#response.writableLength;
    return waiting > maxBufferedBytes || (waiting > 0 && this.#options.account.isNearLimit);
  }

  onceDrained(resume: () => void): void {
    this.#waiting.push(resume);
  }

  #recount(): void {
    const waiting = this.#response.writableLength;
    this.#options.account.add(waiting - this.#counted);
    this.#counted = waiting;
    if (waiting > 0 || this.#waiting.length === 0) return;
    const resumed = this.#waiting;
    this.#waiting = [];
    for (const resume of resumed) resume();
  }

  end(error: ClientError): void {
    this.#options.stopHeartbeat();
    const { body } = this.#options.refuse(error);
    this.#response.end(`event: next\ndata: ${JSON.stringify(body)}\n\n${complete}`);
  }

  /** Ends the response without a `complete`, so that the client reconnects. */
  disconnect(): void {
    this.#options.stopHeartbeat();
    this.#response.end();
  }
}

function encodeEvent({ cursor, json }: Frame): Buffer {
  return Buffer.from(`event: next\nid: ${cursor}\ndata: ${json}\n\n`);
}
