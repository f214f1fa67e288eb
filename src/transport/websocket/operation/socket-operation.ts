import { Cancellation, ClientDisconnected } from '../../../common/cancellation.ts';
import { createRequestId } from '../../../common/ids.ts';
import { type Answer, jsonOf } from '../../../engine/answer.ts';
import type { Call, PreparedOperation } from '../../../engine/operation.ts';
import { ClientError } from '../../../errors.ts';
import { findLostScope, missingScope } from '../../../identity/access.ts';
import type { Viewer } from '../../../identity/viewer.ts';
import type { Stream } from '../../../live/stream.ts';
import type { ReservedAnswer } from '../../admission/answer-budget.ts';
import { toGraphQLRequest } from '../../graphql-request.ts';
import { surround } from '../../surround.ts';
import type { TransportParts } from '../../transport.ts';
import { clearPayload } from '../client-message.ts';
import type { WebSocketConnection } from '../connection.ts';
import { OperationRefused } from './operation-refused.ts';
import type { OperationStart } from './start-order.ts';
import { SubscriptionSink } from './subscription-sink.ts';

interface Subscribe {
  id: string;
  /** The payload of the client's message. It is cleared, because graphql-ws keeps it until the operation is over. */
  payload: object;
  /** The number of operations on this socket that are not over, with this one. */
  operationCount: number;
}

const over: IteratorReturnResult<void> = { done: true, value: undefined };

/** The operation, or the answer that refuses it. */
type Prepared = PreparedOperation | Answer;

/**
 * One operation as graphql-ws sees it: an iterator that yields nothing, and ends when the operation is over. The
 * operation sends its results to the socket itself, because an answer is serialised by the engine, and an event once for
 * all its subscribers.
 */
export class SocketOperation implements AsyncIterableIterator<never, void, void> {
  readonly #parts: TransportParts;
  readonly #connection: WebSocketConnection;
  readonly #id: string;
  readonly #call: Call;
  /** Undefined when a subscription has begun: it may last for days, and must not hold what only its beginning needs. */
  #start: OperationStart | undefined;
  #prepared: Prepared | Promise<Prepared> | undefined;
  #done: Promise<IteratorReturnResult<void>> | undefined;
  #isOver = false;
  #stream: Stream | undefined;
  /** Ends the wait for the end of the operation. */
  #finish: (() => void) | undefined;

  /** Checks the operation at once, in the order of the messages. */
  constructor(parts: TransportParts, connection: WebSocketConnection, { id, payload, operationCount }: Subscribe) {
    this.#parts = parts;
    this.#connection = connection;
    this.#id = id;
    const requestId = createRequestId();
    this.#call = {
      viewer: connection.credentials.viewer,
      address: connection.address,
      isResumed: connection.hasSeen(id),
      requestId,
      cancellation: new Cancellation(),
      // The message has no headers of its own.
      report: parts.operationReports.start(requestId, 'extensions' in payload && payload.extensions),
    };
    this.#start = connection.operationStarts.add();
    connection.operations.set(id, this);
    this.#prepared = this.#prepare(payload, operationCount);
    clearPayload(payload);
  }

  next(): Promise<IteratorResult<never, void>> {
    this.#done ??= this.#run();
    return this.#done;
  }

  /** The client has completed the operation, or has disconnected. */
  async return(): Promise<IteratorResult<never, void>> {
    this.#isOver = true;
    // graphql-ws calls this without `next` if the client completes the operation before it begins.
    this.#start?.markStarted();
    this.cancel();
    this.#stream?.stop(this.#connection.streamEnd);
    this.#finish?.();
    if (!this.#done) this.#parts.operationReports.finish(this.#call);
    return over;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  cancel(): void {
    this.#call.cancellation.cancel(new ClientDisconnected());
  }

  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  checkScope(viewer: Viewer | null): void {
    const lost = findLostScope(viewer, this.#call.viewer);
    if (lost) this.#stream?.end(missingScope(lost));
  }

  stopStream(): void {
    this.#stream?.stop('connection_closed');
  }

  /** @throws OperationRefused, which becomes the message `error`. */
  async #run(): Promise<IteratorReturnResult<void>> {
    try {
      const stream = await this.#begin();
      await stream?.ended;
    } catch (error) {
      // Nobody receives what comes after the end.
      if (this.#isOver) return over;
      if (error instanceof OperationRefused) throw error;
      const answer = this.#refuse(error);
      if (answer.body.errors?.[0]?.extensions?.['code'] !== 'SERVICE_UNAVAILABLE') throw new OperationRefused(answer);
      // Its client resumes on another connection. After an `error` it would not.
      this.#start?.markStarted();
      this.#connection.dropMessage(this.#id);
      this.#connection.endUnavailable();
      await new Promise<void>((resolve) => {
        this.#finish = resolve;
      });
    } finally {
      this.#start?.markStarted();
      this.#parts.operationReports.finish(this.#call);
    }
    return over;
  }

  /** Resolves when a query or a mutation is over, or when a subscription has begun. */
  async #begin(): Promise<SubscriptionSink | undefined> {
    const prepared = this.#prepared instanceof Promise ? await this.#prepared : this.#prepared;
    // A stream needs it no longer, and may last for days.
    this.#prepared = undefined;
    if (!prepared || this.#isOver) return undefined;
    if ('status' in prepared) throw new OperationRefused(prepared);
    if (prepared.type === 'subscription') return this.#subscribe(prepared);
    await this.#execute(prepared);
    return undefined;
  }

  #prepare(payload: object, operationCount: number): Prepared | Promise<Prepared> {
    try {
      if (operationCount > this.#parts.config.limits.subscriptions) {
        throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED');
      }
      // It may be read after `payload` was cleared.
      const given = { ...payload };
      const prepared = this.#parts.engine.prepare(() => toGraphQLRequest(given), this.#call);
      return prepared instanceof Promise ? prepared.catch((error) => this.#refuse(error)) : prepared;
    } catch (error) {
      return this.#refuse(error);
    }
  }

  async #execute(prepared: PreparedOperation): Promise<void> {
    this.#start?.markStarted();
    if (prepared.type === 'mutation') await this.#start?.earlierStarted;
    const run = async () => this.#parts.answerBudget.run(prepared, this.#call, this.#connection.socket);
    return this.#sendAnswer(await run().catch((error) => this.#refuse(error)));
  }

  /** It is not `async`, so that the result is not held until the client has read it. */
  #sendAnswer(answer: ReservedAnswer): Promise<void> | undefined {
    this.#parts.operationReports.finish(this.#call, answer);
    try {
      if (this.#isOver) return undefined;
      const message = surround(`{"id":${JSON.stringify(this.#id)},"type":"next","payload":`, jsonOf(answer), '}');
      const sent = this.#connection.send(message);
      if (!answer.release) return sent;
      const { socket, address } = this.#connection;
      return sent.finally(this.#parts.answerBudget.reserveBytes(socket, address, Buffer.byteLength(message)));
    } finally {
      // From here on the bytes of the written answer are counted instead.
      answer.release?.();
    }
  }

  async #subscribe(prepared: PreparedOperation): Promise<SubscriptionSink | undefined> {
    const id = this.#id;
    const connection = this.#connection;
    const { account } = connection;
    const after = connection.takeSeen(id);
    const stream = await prepared.subscribe({
      account,
      transport: 'websocket',
      after,
      onPositioned: () => this.#start?.markStarted(),
    });
    this.#start?.markStarted();
    this.#parts.operationReports.finish(this.#call);
    if (this.#isOver) {
      stream.stop(connection.streamEnd);
      return undefined;
    }
    this.#stream = stream;
    this.#start = this.#call.report = undefined;
    const sink = new SubscriptionSink(id, connection, stream);
    this.#finish = sink.finish;
    connection.dropMessage(id);
    // The stream ends with the connection, which waits only for answers.
    if (connection.isEnding) return sink;
    // The credentials may have been renewed since the operation arrived.
    this.checkScope(connection.credentials.viewer);
    const { cursor, userCursor } = stream;
    // In `cursors`, not in `live`: earlier clients keep what `live` has, and would send an old cursor of the user for ever.
    const payload = {
      live: { [id]: cursor },
      ...(userCursor && { cursors: { [id]: userCursor } }),
      ...(stream.isReplaying && { replays: [id] }),
    };
    if (cursor !== undefined) void connection.send(JSON.stringify({ type: 'ping', payload }));
    stream.start(sink);
    return sink;
  }

  #refuse(error: unknown): Answer {
    const answer = this.#parts.engine.refuse(error, this.#call);
    this.#parts.operationReports.finish(this.#call, answer);
    return answer;
  }
}
