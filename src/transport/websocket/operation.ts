import type { SubscribeMessage } from 'graphql-ws';
import { Cancellation, ClientDisconnected } from '../../common/cancellation.ts';
import { createRequestId } from '../../common/ids.ts';
import { type Answer, wrapJson } from '../../engine/answer.ts';
import type { PreparedOperation } from '../../engine/operation.ts';
import type { Call } from '../../engine/operation-reports.ts';
import { ClientError } from '../../errors.ts';
import { findLostScope, missingScope } from '../../identity/access.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { Sink, Stream, StreamMessage } from '../../live/stream.ts';
import type { ReservedAnswer } from '../admission/memory-budgets.ts';
import { toGraphQLRequest } from '../client-json.ts';
import type { TransportParts } from '../transport.ts';
import type { WebSocketConnection } from './connection.ts';

/** The operation, or the answer that refuses it. */
type Prepared = PreparedOperation | Answer;

/**
 * One operation of a WebSocket, from the message `subscribe` to its end, and the sink of its stream. An answer is
 * serialised by the engine, and an event once for all its subscribers: only the operation's id differs.
 */
export class SocketOperation implements Sink {
  readonly #parts: TransportParts;
  readonly #connection: WebSocketConnection;
  readonly #id: string;
  readonly #prefix: Buffer;
  readonly #call: Call;
  /** Undefined when a subscription has begun: it may last for days, and must not hold what only its beginning needs. */
  #start: ReturnType<typeof addStart> | undefined;
  #stream: Stream | undefined;
  /** The bytes that are counted for its message. */
  #messageBytes: number;
  /** Nothing more is sent. */
  #isOver = false;

  /** Checks the operation at once, in the order of the messages. `length`: that of the message, in characters. */
  constructor(
    parts: TransportParts,
    connection: WebSocketConnection,
    { id, payload }: SubscribeMessage,
    length: number,
  ) {
    this.#parts = parts;
    this.#connection = connection;
    this.#id = id;
    this.#prefix = Buffer.from(`{"id":${JSON.stringify(id)}`);
    this.#messageBytes = connection.holdMessage(length);
    const requestId = createRequestId();
    this.#call = {
      viewer: connection.viewer,
      address: connection.address,
      isResumed: connection.seen.has(id),
      requestId,
      cancellation: new Cancellation(),
      // The message has no headers of its own.
      report: parts.operationReports.start(requestId, payload.extensions),
    };
    this.#start = addStart(connection);
    connection.operations.set(id, this);
    this.#run(payload).catch(connection.fail);
  }

  get isStream(): boolean {
    return this.#stream !== undefined;
  }

  /** The client has completed the operation, or has disconnected. */
  leave(): void {
    this.#isOver = true;
    this.#connection.operations.delete(this.#id);
    this.#start?.markStarted();
    this.#call.cancellation.cancel(new ClientDisconnected());
    this.#stream?.stop(this.#connection.streamEnd);
  }

  checkScope(viewer: Viewer | null): void {
    const lost = findLostScope(viewer, this.#call.viewer);
    if (lost) this.#stream?.end(missingScope(lost));
  }

  stopStream(): void {
    this.#stream?.stop('connection_closed');
  }

  write(message: StreamMessage, at?: number): void {
    const { writer } = this.#connection;
    const bytes = message.encode(encodeNext);
    if (!writer.accepts(bytes.length)) return this.#stream?.endAsSlowConsumer(message);
    writer.write(this.#prefix, bytes, at);
    if (at !== undefined) this.#connection.deliveries += 1;
  }

  fail(error: unknown): void {
    this.#connection.fail(error);
  }

  isFull(): boolean {
    return this.#connection.writer.isFull();
  }

  onceDrained(resume: () => void): void {
    this.#connection.writer.onceDrained(resume);
  }

  onceRead(resume: () => void): void {
    this.#connection.writer.onceRead(resume);
  }

  caughtUp(): void {
    void this.#connection.send(JSON.stringify({ type: 'ping', payload: { caughtUp: [this.#id] } }));
  }

  disconnect(): void {
    this.#connection.endUnavailable();
  }

  /** Ends the operation, or the stream that it is, with an error. */
  end(error: unknown): void {
    // Nobody receives what comes after the end.
    if (this.#isOver) return;
    const answer = this.#refuse(error);
    const isUnavailable = answer.body.errors?.[0]?.extensions?.['code'] === 'SERVICE_UNAVAILABLE';
    // Its client resumes on another connection. After an `error` it would not.
    if (isUnavailable) this.#connection.endUnavailable();
    else this.#sendLast({ type: 'error', payload: answer.body.errors });
  }

  /** Resolves when a query or a mutation is over, or when a subscription has begun. */
  async #run(payload: SubscribeMessage['payload']): Promise<void> {
    try {
      const prepared = await this.#prepare(payload);
      // The client may have completed it in the same packet.
      if (this.#isOver) return;
      if ('status' in prepared) return this.#sendLast({ type: 'error', payload: prepared.body.errors });
      if (prepared.type === 'subscription') return await this.#subscribe(prepared);
      await this.#execute(prepared);
      if (!this.#isOver) this.#sendLast({ type: 'complete' });
    } catch (error) {
      this.end(error);
    } finally {
      this.#finishStart();
    }
  }

  /** Releases what only the start of the operation needs. */
  #finishStart(): void {
    this.#start?.markStarted();
    this.#parts.operationReports.finish(this.#call);
    this.#start = this.#call.report = undefined;
    if (this.#messageBytes > 0) this.#connection.dropMessage(this.#messageBytes);
    this.#messageBytes = 0;
  }

  async #prepare(payload: SubscribeMessage['payload']): Promise<Prepared> {
    try {
      if (this.#connection.operations.size > this.#parts.config.limits.subscriptions) {
        throw new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED');
      }
      return await this.#parts.engine.prepare(() => toGraphQLRequest(payload), this.#call);
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
      const message = wrapJson(answer, `{"id":${JSON.stringify(this.#id)},"type":"next","payload":`, '}');
      const sent = this.#connection.send(message);
      if (!answer.release) return sent;
      const { socket, address } = this.#connection;
      return sent.finally(this.#parts.answerBudget.reserveBytes(socket, address, Buffer.byteLength(message)));
    } finally {
      // From here on the bytes of the written answer are counted instead.
      answer.release?.();
    }
  }

  async #subscribe(prepared: PreparedOperation): Promise<void> {
    const id = this.#id;
    const connection = this.#connection;
    const stream = await prepared.subscribe({
      account: connection.account,
      transport: 'websocket',
      after: connection.takeSeen(id),
      onPositioned: () => this.#start?.markStarted(),
    });
    this.#stream = stream;
    this.#finishStart();
    if (this.#isOver) return stream.stop(connection.streamEnd);
    // The stream ends with the connection, which waits only for answers.
    if (connection.isEnding) return;
    // The credentials may have been renewed since the operation arrived.
    this.checkScope(connection.viewer);
    const { cursor, userCursor } = stream;
    // In `cursors`, not in `live`: earlier clients keep what `live` has, and would send an old cursor of the user for ever.
    const payload = {
      live: { [id]: cursor },
      ...(userCursor && { cursors: { [id]: userCursor } }),
      ...(stream.isReplaying && { replays: [id] }),
    };
    if (cursor !== undefined) void connection.send(JSON.stringify({ type: 'ping', payload }));
    stream.start(this);
  }

  /** Sends the message that ends the operation. Its id is then free again. */
  #sendLast(message: object): void {
    this.#isOver = true;
    this.#connection.operations.delete(this.#id);
    void this.#connection.send(JSON.stringify({ id: this.#id, ...message }));
  }

  #refuse(error: unknown): Answer {
    const answer = this.#parts.engine.refuse(error, this.#call);
    this.#parts.operationReports.finish(this.#call, answer);
    return answer;
  }
}

/**
 * Keeps the order on one socket: a mutation that is sent after a subscription runs after the subscription has started,
 * so that the subscription receives its events. `markStarted` is called when the operation runs, is refused, or its
 * subscription has found its position in the log.
 */
function addStart(connection: WebSocketConnection) {
  /** Resolves when all operations that arrived earlier have started; it waits for nothing slower than the database. */
  const earlierStarted = connection.allStarted;
  const { promise, resolve } = Promise.withResolvers<void>();
  // Without the result: each array would contain the one before, and a long-lived socket would keep them all.
  connection.allStarted = Promise.all([earlierStarted, promise]).then(() => {});
  return { earlierStarted, markStarted: resolve };
}

function encodeNext({ json }: StreamMessage): Buffer {
  return Buffer.from(`,"type":"next","payload":${json}}`);
}
