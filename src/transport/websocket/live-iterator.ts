import type { Answer } from '../../engine/answer.ts';
import type { ClientError } from '../../errors.ts';
import type { EncodedEvent } from '../../live/encoded-event.ts';
import type { Sink, Subscriber } from '../../live/subscriber.ts';
import { OperationRefused } from './operation-refused.ts';
import type { SocketWriter } from './writer.ts';

export interface LiveIteratorParts {
  /** The operation's id on its socket. */
  id: string;
  subscriber: Subscriber;
  writer: SocketWriter;
  /** Sends the client the cursor after which the subscription starts. */
  announce: (cursor: string) => void;
  refuse: (error: ClientError) => Answer;
}

/**
 * A subscription as graphql-ws sees it: an iterator that yields nothing and ends when the stream does. The events
 * themselves go to the socket directly, framed once for all its subscribers.
 */
export class LiveIterator implements AsyncGenerator<never, void, void>, Sink {
  readonly #parts: LiveIteratorParts;
  /** A field of its own although `parts` has it: each event reads it, and one indirection less saves a cache miss. */
  readonly #writer: SocketWriter;
  readonly #prefix: Buffer;
  readonly #ended = Promise.withResolvers<IteratorReturnResult<void>>();
  #hasStarted = false;

  constructor(parts: LiveIteratorParts) {
    this.#parts = parts;
    this.#writer = parts.writer;
    this.#prefix = Buffer.from(`{"id":${JSON.stringify(parts.id)}`);
    // If `next()` is never called, no one handles the rejection.
    this.#ended.promise.catch(() => {});
  }

  next(): Promise<IteratorResult<never, void>> {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      this.#parts.announce(this.#parts.subscriber.cursor);
      this.#parts.subscriber.attach(this);
    }
    return this.#ended.promise;
  }

  async return(): Promise<IteratorResult<never, void>> {
    this.#parts.subscriber.leave();
    this.#ended.resolve({ done: true, value: undefined });
    return { done: true, value: undefined };
  }

  throw(): Promise<IteratorResult<never, void>> {
    return this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  write(event: EncodedEvent): void {
    const bytes = event.encode(encodeNext);
    if (this.#writer.accepts(bytes.length)) this.#writer.write(this.#prefix, bytes);
    else this.#parts.subscriber.endSlow();
  }

  isFull(): boolean {
    return this.#writer.isFull();
  }

  onceDrained(resume: () => void): void {
    this.#writer.onceDrained(resume);
  }

  end(error: ClientError): void {
    this.#ended.reject(new OperationRefused(this.#parts.refuse(error)));
  }

  cut(): void {
    this.#ended.resolve({ done: true, value: undefined });
  }
}

function encodeNext({ json }: EncodedEvent): Buffer {
  return Buffer.from(`,"type":"next","payload":${json}}`);
}
