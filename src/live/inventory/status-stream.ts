import { ClientError, type ErrorCode } from '../../errors.ts';
import type { LiveCounts, StreamEnd, StreamTransport } from '../live-counts.ts';
import type { Frame, Sink, Stream } from '../stream.ts';
import type { ServerStatus } from './server-status.ts';

export interface StatusRequest {
  /** Equal for requests whose results are equal: those of one viewer with the same selection. */
  key: string;
  /** Executes the selection for a state; the result is JSON. */
  execute: (status: ServerStatus) => Promise<string>;
  transport: StreamTransport;
  address: string;
  userId: string | null;
  /** The cost of the operation for each state. */
  cost: number;
  /** Called when the stream has ended. */
  onEnd: () => void;
}

interface StatusStreamParts {
  request: StatusRequest;
  counts: LiveCounts;
  onStart: () => void;
  onEnd: (reason: StreamEnd | ErrorCode) => void;
}

/** The stream of one client. A client that has not read everything receives only the latest state when it has. */
export class StatusStream implements Stream {
  /** It cannot be resumed. */
  readonly cursor = undefined;
  readonly request: StatusRequest;
  readonly #parts: StatusStreamParts;
  #sink: Sink | undefined;
  #hasStopped = false;
  #number = 0;
  /** The error that ended the stream before a sink was attached. */
  #ended: ClientError | undefined;
  /** The state that waits until the client has read; undefined if none waits. */
  #latest: Frame | undefined;

  constructor(parts: StatusStreamParts) {
    this.#parts = parts;
    this.request = parts.request;
  }

  start(sink: Sink): void {
    if (this.#ended) return sink.end(this.#ended);
    if (this.#hasStopped) return;
    this.#sink = sink;
    this.#parts.onStart();
  }

  /** Leaves out a state that is older than the one before: the first state of a stream may be late. */
  deliver(frame: Frame, number: number): void {
    if (number < this.#number) return;
    this.#number = number;
    this.#send(frame);
  }

  #send(frame: Frame): void {
    if (this.#hasStopped || !this.#sink) return;
    if (!this.#latest && !this.#sink.isFull(0)) return this.#sink.write(frame);
    if (!this.#latest) this.#sink.onceDrained(() => this.#deliverLatest());
    this.#setLatest(frame);
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
    const latest = this.#latest;
    this.#setLatest(undefined);
    if (latest) this.#send(latest);
  }

  #setLatest(frame: Frame | undefined): void {
    this.#parts.counts.slowConsumers += Number(frame !== undefined) - Number(this.#latest !== undefined);
    this.#latest = frame;
  }

  #stop(reason: StreamEnd | ErrorCode): void {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.#setLatest(undefined);
    this.#parts.onEnd(reason);
  }
}
