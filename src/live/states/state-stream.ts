import { ClientError, type ErrorCode } from '../../errors.ts';
import type { LiveCounts, StreamEnd } from '../live-counts.ts';
import type { Sink, Stream, StreamMessage } from '../stream.ts';
import type { personal, SubscribeRequest } from '../subscribe-request.ts';

type SubscriptionParts =
  | 'key'
  | 'traits'
  | 'viewerKey'
  | 'visibleRooms'
  | 'cost'
  | 'transport'
  | 'address'
  | 'chargedId'
  | 'onEnd';

/** A subscription to a state. Its `cost` is that of each state. */
export interface StateRequest<State> extends Pick<SubscribeRequest, SubscriptionParts> {
  /**
   * Executes the selection for a state; the result is JSON. Without a viewer, unless `traits.isPersonal` is set; it sets
   * it and returns `personal` if the selection reads the viewer.
   */
  execute: (state: State) => Promise<string | typeof personal>;
}

interface StateStreamParts<State> {
  request: StateRequest<State>;
  counts: LiveCounts;
  /** Whether a state that equals the one before is left out. */
  onlyChanges: boolean;
  onStart: () => void;
  onEnd: (reason: StreamEnd | ErrorCode) => void;
}

/** The stream of one client. A client that has not read everything receives only the latest state when it has. */
export class StateStream<State> implements Stream {
  /** It cannot be resumed. */
  readonly cursor = undefined;
  readonly request: StateRequest<State>;
  readonly #parts: StateStreamParts<State>;
  #sink: Sink | undefined;
  #hasStopped = false;
  /** The error that ended the stream before a sink was attached. */
  #ended: ClientError | undefined;
  /** The state that waits until the client has read; undefined if none waits. */
  #latest: StreamMessage | undefined;
  #lastJson: string | undefined;
  /** Whether the client has read the state before. */
  #hasRead = true;

  constructor(parts: StateStreamParts<State>) {
    this.#parts = parts;
    this.request = parts.request;
  }

  start(sink: Sink): void {
    if (this.#ended) return sink.end(this.#ended);
    if (this.#hasStopped) return;
    this.#sink = sink;
    this.#parts.onStart();
  }

  /** Never throws. */
  deliver(message: StreamMessage): void {
    if (this.#hasStopped || !this.#sink) return;
    if (!this.#hasRead) return this.#setLatest(message);
    if (this.#parts.onlyChanges && message.json === this.#lastJson) return;
    this.#lastJson = message.json;
    this.#hasRead = false;
    try {
      this.#sink.write(message);
      this.#sink.onceRead(() => this.#deliverLatest());
    } catch (error) {
      this.#sink.fail(error);
    }
  }

  stop(reason: StreamEnd): void {
    this.#stop(reason);
  }

  end(error: ClientError): void {
    if (this.#hasStopped) return;
    this.#stop(error.code);
    if (this.#sink) this.#sink.end(error);
    else this.#ended = error;
  }

  disconnect(): void {
    this.#stop('server_stop');
    this.#sink?.disconnect();
  }

  endAsSlowConsumer(): void {
    this.end(new ClientError('SLOW_CONSUMER'));
  }

  #deliverLatest(): void {
    this.#hasRead = true;
    const latest = this.#latest;
    this.#setLatest(undefined);
    if (latest) this.deliver(latest);
  }

  #setLatest(message: StreamMessage | undefined): void {
    this.#parts.counts.slowConsumers += Number(message !== undefined) - Number(this.#latest !== undefined);
    this.#latest = message;
  }

  #stop(reason: StreamEnd | ErrorCode): void {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.#setLatest(undefined);
    this.#parts.onEnd(reason);
  }
}
