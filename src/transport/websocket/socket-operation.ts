import { randomUUID } from 'node:crypto';
import type { Answer } from '../../engine/answer.ts';
import { Cancellation, clientLeft } from '../../engine/cancellation.ts';
import type { Call, PreparedOperation } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import { toGraphQLRequest } from '../http/request.ts';
import type { TransportParts } from '../transport.ts';
import { clearPayload } from './client-message.ts';
import type { Connection } from './connection.ts';
import { OperationRefused } from './operation-refused.ts';
import type { Start } from './starting.ts';
import { SubscriptionSink } from './subscription-sink.ts';

interface Subscribe {
  id: string;
  /** The payload of the client's message. It is cleared, because graphql-ws keeps it until the operation is over. */
  payload: object;
  /** The number of operations on this socket that are not over, with this one. */
  operationCount: number;
}

/**
 * One operation as graphql-ws sees it: an iterator that yields nothing, and ends when the operation is over. The
 * operation sends its results to the socket itself, because an answer is serialised by the engine, and an event once for
 * all its subscribers.
 */
export class SocketOperation implements AsyncGenerator<never, void, void> {
  readonly #parts: TransportParts;
  readonly #connection: Connection;
  readonly #id: string;
  readonly #call: Call;
  readonly #start: Start;
  #prepared: PreparedOperation | Answer | undefined;
  #done: Promise<IteratorReturnResult<void>> | undefined;
  #isOver = false;
  #stop: () => void = () => {};

  /** Checks the operation at once, in the order of the messages. */
  constructor(parts: TransportParts, connection: Connection, { id, payload, operationCount }: Subscribe) {
    this.#parts = parts;
    this.#connection = connection;
    this.#id = id;
    this.#call = {
      viewer: connection.viewer,
      address: connection.address,
      isResumed: connection.hasSeen(id),
      requestId: flatten(randomUUID()),
      cancellation: new Cancellation(),
    };
    this.#start = connection.starting.begin();
    connection.running.set(id, this.#call.cancellation);
    this.#prepared = this.#prepare(payload, operationCount);
    clearPayload(payload);
  }

  next(): Promise<IteratorResult<never, void>> {
    this.#done ??= this.#run().then(() => ({ done: true, value: undefined }));
    return this.#done;
  }

  /** The client has completed the operation, or has disconnected. */
  async return(): Promise<IteratorResult<never, void>> {
    this.#isOver = true;
    this.#call.cancellation.cancel(clientLeft());
    this.#stop();
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

  /** @throws OperationRefused, which becomes the message `error`. */
  async #run(): Promise<void> {
    try {
      const stream = await this.#begin();
      await stream?.ended;
    } catch (error) {
      // Nobody receives what comes after the end.
      if (!this.#isOver) throw error instanceof OperationRefused ? error : new OperationRefused(this.#refuse(error));
    } finally {
      this.#start.markStarted();
    }
  }

  /** Resolves when a query or a mutation is over, or when a subscription has begun. */
  #begin(): Promise<SubscriptionSink | undefined> {
    const prepared = this.#prepared;
    // A stream needs it no longer, and may last for days.
    this.#prepared = undefined;
    if (!prepared) return Promise.resolve(undefined);
    if ('status' in prepared) return Promise.reject(new OperationRefused(prepared));
    return prepared.type === 'subscription' ? this.#subscribe(prepared) : this.#execute(prepared);
  }

  #prepare(payload: object, operationCount: number): PreparedOperation | Answer {
    try {
      if (operationCount > this.#parts.config.limits.subscriptions) {
        throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED');
      }
      return this.#parts.engine.prepare(toGraphQLRequest(payload), this.#call);
    } catch (error) {
      return this.#refuse(error);
    }
  }

  async #execute(prepared: PreparedOperation): Promise<undefined> {
    this.#start.markStarted();
    if (prepared.type === 'mutation') await this.#start.earlier;
    const { body, json = JSON.stringify(body) } = await this.#connection
      .execute(this.#id, prepared)
      .catch((error) => this.#refuse(error));
    if (this.#isOver) return;
    await this.#connection.send(`{"id":${JSON.stringify(this.#id)},"type":"next","payload":${json}}`);
  }

  async #subscribe(prepared: PreparedOperation): Promise<SubscriptionSink | undefined> {
    const { account, writer } = this.#connection;
    const id = this.#id;
    const after = this.#connection.takeSeen(id);
    const stream = await prepared.subscribe({ account, after, onPositioned: this.#start.markStarted });
    this.#start.markStarted();
    if (this.#isOver) {
      stream.stop();
      return undefined;
    }
    this.#connection.addStream(id, { stream, begunBy: this.#call.viewer });
    const sink = new SubscriptionSink(id, writer, stream);
    this.#stop = () => {
      stream.stop();
      sink.cut();
    };
    void this.#connection.send(JSON.stringify({ type: 'ping', payload: { live: { [id]: stream.cursor } } }));
    stream.start(sink);
    return sink;
  }

  #refuse(error: unknown): Answer {
    return this.#parts.engine.refuse(error, this.#call);
  }
}

/** Copies a text into one flat string: a UUID is a concatenation of fourteen strings, which take 450 bytes more. */
function flatten(text: string): string {
  return Buffer.from(text).toString();
}
