import type { ServerResponse } from 'node:http';
import { contain, type Fail } from '../../../contain.ts';
import type { Answer } from '../../../engine/answer.ts';
import type { ClientAccount } from '../../../engine/limits/client-memory.ts';
import { ClientError } from '../../../errors.ts';
import type { Viewer } from '../../../identity/viewer.ts';
import { createConnectionId } from '../../../ids.ts';
import type { StreamTransport } from '../../../live/live-counts.ts';
import type { Encoder, Sink, Stream, StreamMessage } from '../../../live/stream.ts';
import { maxBufferedBytes } from '../../admission/buffered-bytes.ts';
import type { LongConnection, LongConnections } from '../../long-connections.ts';

/** How a subscription is written into an HTTP response. */
export interface StreamFormat {
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

export interface HttpStreamOptions {
  format: StreamFormat;
  address: string;
  viewer: Viewer | null;
  /** Formats the reason of an end. */
  refuse: (error: ClientError) => Answer;
  /** The client's account; it counts the bytes that the client has not read. */
  account: ClientAccount;
  longConnections: LongConnections;
  /** Ends the response because of an exception in its work. */
  fail: Fail;
}

/** Runs a subscription over the response, until either side ends it. */
export function runHttpStream(
  response: ServerResponse,
  stream: Stream,
  { format, address, viewer, refuse, account, longConnections, fail }: HttpStreamOptions,
): void {
  const expiresAt = viewer?.expiresAt ?? Number.POSITIVE_INFINITY;
  startStream(response, format);
  const stopHeartbeat = () => clearInterval(heartbeat);
  const sink = new HttpStreamSink(response, {
    format,
    expiresAt,
    refuse,
    account,
    stopHeartbeat,
    endAsSlowConsumer: (message) => stream.endAsSlowConsumer(message),
    stop: () => stream.stop('connection_closed'),
    fail,
  });
  const sendHeartbeat = () => {
    // No heartbeat is added while the client does not read.
    if (!response.writableNeedDrain) sink.send(format.heartbeat);
  };
  const heartbeat = setInterval(contain(sendHeartbeat, fail), format.heartbeatMs);
  // The cursors of an inbox are in its events; its client resumes with `after`.
  sink.send(format.begin(typeof stream.cursor === 'string' ? stream.cursor : undefined));
  const connection: LongConnection = {
    ...createConnectionId(),
    transport: format.transport,
    address,
    viewerId: viewer?.user.id ?? null,
    subscriptions: 1,
    get bytesWaiting() {
      return response.writableLength;
    },
    get lagMs() {
      return sink.lagMs;
    },
    drain() {
      stream.stop('server_stop');
      sink.disconnect();
    },
    fail,
    endByOperator: () => stream.end(new ClientError('CONNECTION_ENDED')),
  };
  response.once('close', () => {
    longConnections.delete(connection);
    stopHeartbeat();
    // HTTP has no message by which a client says that it leaves.
    stream.stop('disconnected');
  });
  stream.start(sink);
  longConnections.add(connection);
}

export function startStream(
  response: ServerResponse,
  { contentType }: Pick<StreamFormat, 'contentType'>,
  status = 200,
): void {
  response.writeHead(status, {
    'content-type': contentType,
    'cache-control': 'private, no-store',
    'x-accel-buffering': 'no',
  });
}

interface SinkOptions {
  format: StreamFormat;
  expiresAt: number;
  refuse: (error: ClientError) => Answer;
  account: ClientAccount;
  /** Nothing may be written after the end, even if the client has not read the end yet. */
  stopHeartbeat: () => void;
  /** Ends the stream because the client is too slow to receive an event. */
  endAsSlowConsumer: (message: StreamMessage) => void;
  /** Ends the stream without a message to the client. */
  stop: () => void;
  fail: Fail;
}

class HttpStreamSink implements Sink {
  /** From the time of the latest live event to its write; 0 before the first. */
  lagMs = 0;
  readonly #response: ServerResponse;
  readonly #options: SinkOptions;
  readonly fail: Fail;
  readonly #onWritten: () => void;
  /** The bytes that waited for the client when they were last counted. */
  #counted = 0;
  #waiting: (() => void)[] = [];

  constructor(response: ServerResponse, options: SinkOptions) {
    this.#response = response;
    this.#options = options;
    this.fail = options.fail;
    this.#onWritten = contain(() => this.#recount(), options.fail);
  }

  write(message: StreamMessage, at?: number): void {
    const now = Date.now();
    // The timer that ends the stream may be late.
    if (now >= this.#options.expiresAt) return;
    if (at !== undefined) this.lagMs = Math.max(0, now - at);
    const bytes = message.encode(this.#options.format.encode);
    if (bytes.length > maxBufferedBytes && this.#options.account.isNearLimit)
      return this.#options.endAsSlowConsumer(message);
    this.send(bytes);
    if (this.#counted > 0 && this.#options.account.isAddressOver) this.#disconnectUnread();
  }

  /**
   * Only after a write is it known whether the system accepts the bytes: one event for each of many streams could exceed
   * the memory budget of the address. The client resumes from the latest event that it has received.
   */
  #disconnectUnread(): void {
    this.#options.stop();
    this.#options.stopHeartbeat();
    this.#response.destroy();
    this.#recount();
  }

  /** Counts the bytes: a stream that waits for all of them to be read, also the heartbeats, is notified. */
  send(content: string | Buffer): void {
    this.#response.write(content, this.#onWritten);
    this.#recount();
  }

  isFull(maxBytes = maxBufferedBytes): boolean {
    const waiting = this.#response.writableLength;
    return waiting > maxBytes || (waiting > 0 && this.#options.account.isNearLimit);
  }

  onceDrained(resume: () => void): void {
    this.#waiting.push(resume);
  }

  /** HTTP has no message by which a client says what it has read. */
  onceRead(resume: () => void): void {
    this.onceDrained(resume);
  }

  #recount(): void {
    const waiting = this.#response.destroyed ? 0 : this.#response.writableLength;
    this.#options.account.add(waiting - this.#counted);
    this.#counted = waiting;
    if (waiting > 0 || this.#waiting.length === 0) return;
    const resumed = this.#waiting;
    this.#waiting = [];
    for (const resume of resumed) resume();
  }

  end(error: ClientError): void {
    const { stopHeartbeat, format, refuse } = this.#options;
    stopHeartbeat();
    this.#response.end(format.end(refuse(error).body));
  }

  /** Ends the response without an end of the format, so that the client reconnects. */
  disconnect(): void {
    this.#options.stopHeartbeat();
    this.#response.end();
  }
}
