import { setImmediate } from 'node:timers/promises';
import { chunksOf } from '../../common/chunks.ts';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import { yieldWhenDue } from '../../common/event-loop.ts';
import { ClientError, type ErrorCode } from '../../errors.ts';
import type { FanOut } from '../fan-out.ts';
import type { StreamEnd } from '../live-counts.ts';
import { LiveStream, type LiveStreamParts } from '../live-stream.ts';
import { groupKeyOf, personal, type StreamMessage, type StreamRequest } from '../stream.ts';

const retryMs = 1_000;
/** The streams that are written in one turn of the event loop. */
const maxDelivered = 250;

/** A subscription to a state. Its `cost` is that of each state. */
export type StateRequest<State> = StreamRequest<State, StreamMessage>;

interface StateStreamParts<State> extends LiveStreamParts<StateRequest<State>> {
  /** Whether a state that equals the one before is left out. */
  onlyChanges: boolean;
  onStart: () => void;
}

/** The stream of one client. A client that has not read everything receives only the latest state when it has. */
export class StateStream<State> extends LiveStream<StateStreamParts<State>> {
  /** The state that waits until the client has read; undefined if none waits. */
  #latest: StreamMessage | undefined;
  #lastJson: string | undefined;
  /** Whether the client has read the state before. */
  #hasRead = true;

  /** It cannot be resumed. */
  get cursor(): undefined {
    return undefined;
  }

  /** Never throws. */
  deliver(message: StreamMessage): void {
    const { sink } = this;
    if (!sink) return;
    if (!this.#hasRead) return this.#setLatest(message);
    if (this.parts.onlyChanges && message.json === this.#lastJson) return;
    this.#lastJson = message.json;
    this.#hasRead = false;
    try {
      sink.write(message);
      sink.onceRead(() => this.#deliverLatest());
    } catch (error) {
      sink.fail(error);
    }
  }

  endAsSlowConsumer(): void {
    this.end(new ClientError('SLOW_CONSUMER'));
  }

  protected begin(): void {
    this.parts.onStart();
  }

  #deliverLatest(): void {
    this.#hasRead = true;
    const latest = this.#latest;
    this.#setLatest(undefined);
    if (latest) this.deliver(latest);
  }

  #setLatest(message: StreamMessage | undefined): void {
    this.#latest = message;
    this.setWaiting(message !== undefined);
  }
}

interface StateStreamsParts<State> {
  /** Its costs and counts include those of states. */
  fanOut: FanOut;
  /** Different for each state. */
  name: string;
  read: () => State | Promise<State>;
  /**
   * How often the state is sent while there are streams. Undefined: `send` is called after a change, and a state that
   * equals the one before is left out.
   */
  intervalMs?: number;
  onError: (error: unknown) => void;
}

/**
 * The streams of one state. The latest state is executed once for all streams that select the same. Executions of one
 * state run one after the other, so that an older state never follows a newer one.
 */
export class StateStreams<State> {
  readonly open = new Set<StateStream<State>>();
  readonly #parts: StateStreamsParts<State>;
  /** The streams that the latest state is sent to next. */
  #due = new Set<StateStream<State>>();
  readonly #sending = new CoalescedWork(() => this.#sendDue());
  #timer: NodeJS.Timeout | undefined;
  #retry: NodeJS.Timeout | undefined;

  constructor(parts: StateStreamsParts<State>) {
    this.#parts = parts;
  }

  /** The stream receives the state at once when it has started. @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  subscribe(
    request: StateRequest<State>,
    { onStart, onEnd }: { onStart?: () => void; onEnd?: (reason: StreamEnd | ErrorCode) => void } = {},
  ): StateStream<State> {
    const { fanOut, name, intervalMs, onError } = this.#parts;
    const stream: StateStream<State> = new StateStream({
      request,
      source: name,
      costs: fanOut.costs,
      counts: fanOut.counts,
      onError,
      onlyChanges: intervalMs === undefined,
      onStart: () => {
        onStart?.();
        this.#sendTo([stream]);
      },
      onEnd: (reason) => {
        this.#remove(stream);
        onEnd?.(reason);
      },
    });
    this.open.add(stream);
    if (intervalMs !== undefined) this.#timer ??= setInterval(() => this.send(), intervalMs).unref();
    return stream;
  }

  /** Sends the latest state to all streams. */
  send(): void {
    this.#sendTo(this.open);
  }

  /** Cuts every connection; clients connect to another server. */
  close(): void {
    for (const stream of this.open) stream.disconnect();
  }

  #sendTo(streams: Iterable<StateStream<State>>): void {
    for (const stream of streams) this.#due.add(stream);
    void this.#sending.request();
  }

  async #sendDue(): Promise<void> {
    // Streams that start in the same turn share an execution.
    await setImmediate();
    const due = this.#due;
    this.#due = new Set();
    if (due.size > 0) await this.#execute(due).catch((error) => this.#sendLater(error));
  }

  async #execute(streams: Set<StateStream<State>>): Promise<void> {
    const state = await this.#parts.read();
    for (const [key, group] of Map.groupBy(streams, ({ request }) => groupKeyOf(request))) {
      await this.#executeGroup(key, group, state).catch((error) => this.#sendLater(error));
      await yieldWhenDue();
    }
  }

  async #executeGroup(key: string, group: readonly StateStream<State>[], state: State): Promise<void> {
    const request = group[0]?.request;
    // The key decides, because the selection may have been found to be personal since the streams were grouped.
    const execute = key === request?.key ? request.executeShared : request?.executePersonal;
    const message = await execute?.(state);
    // Each viewer has a separate group from now on, for which the state is executed next.
    if (message === personal) return this.#sendTo(group.filter((stream) => stream.becomePersonal()));
    if (!message) return;
    for (const streams of chunksOf(group, maxDelivered)) {
      for (const stream of streams) stream.deliver(message);
      // The sockets of these streams are written at the end of the turn.
      if (streams.length === maxDelivered) await setImmediate();
    }
  }

  /** An execution has failed. */
  #sendLater(error: unknown): void {
    this.#parts.onError(error);
    if (this.#retry) return;
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.send();
    }, retryMs).unref();
  }

  #remove(stream: StateStream<State>): void {
    this.open.delete(stream);
    this.#due.delete(stream);
    if (this.open.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
