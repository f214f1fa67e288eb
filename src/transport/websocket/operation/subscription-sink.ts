import type { ClientError } from '../../../errors.ts';
import type { Sink, Stream, StreamMessage } from '../../../live/stream.ts';
import type { WebSocketConnection } from '../connection.ts';
import type { SocketWriter } from '../writer.ts';

/** Writes a stream to a WebSocket. Each message is encoded once for all sockets; only the operation's id differs. */
export class SubscriptionSink implements Sink {
  readonly #connection: WebSocketConnection;
  readonly #writer: SocketWriter;
  readonly #id: string;
  readonly #prefix: Buffer;
  readonly #stream: Stream;
  readonly #ended = Promise.withResolvers<void>();
  /** Resolves when the connection is closed or the client has completed; rejects with the reason of any other end. */
  readonly ended = this.#ended.promise;
  /** The function to call when the connection is closed, or the client has completed. */
  readonly finish = this.#ended.resolve;

  constructor(id: string, connection: WebSocketConnection, stream: Stream) {
    this.#connection = connection;
    this.#writer = connection.writer;
    this.#id = id;
    this.#prefix = Buffer.from(`{"id":${JSON.stringify(id)}`);
    this.#stream = stream;
  }

  write(message: StreamMessage, at?: number): void {
    const bytes = message.encode(encodeNext);
    if (this.#writer.accepts(bytes.length)) this.#writer.write(this.#prefix, bytes, at);
    else this.#stream.endAsSlowConsumer(message);
  }

  fail(error: unknown): void {
    this.#writer.fail(error);
  }

  isFull(): boolean {
    return this.#writer.isFull();
  }

  onceDrained(resume: () => void): void {
    this.#writer.onceDrained(resume);
  }

  onceRead(resume: () => void): void {
    this.#writer.onceRead(resume);
  }

  caughtUp(): void {
    void this.#connection.send(JSON.stringify({ type: 'ping', payload: { caughtUp: [this.#id] } }));
  }

  end(error: ClientError): void {
    this.#ended.reject(error);
  }

  disconnect(): void {
    this.#connection.endUnavailable();
  }
}

function encodeNext({ json }: StreamMessage): Buffer {
  return Buffer.from(`,"type":"next","payload":${json}}`);
}
