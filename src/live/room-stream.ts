import { ClientError, type ErrorCode } from '../errors.ts';
import type { CostShare } from './groups/cost-share.ts';
import type { LiveCounts, StreamEnd } from './live-counts.ts';
import type { Sink, Stream, StreamMessage } from './stream.ts';
import type { Selection } from './subscribe-request.ts';

export interface RoomStreamParts<Request extends Selection> {
  request: Request;
  counts: LiveCounts;
  share: CostShare;
  onEnd: (reason: StreamEnd | ErrorCode) => void;
  onError: (error: unknown) => void;
}

/** The life of a stream of events: it starts when it gets its sink, and ends once, from either side. */
export abstract class RoomStream<Request extends Selection = Selection> implements Stream {
  readonly request: Request;
  readonly counts: LiveCounts;
  sink: Sink | undefined;
  readonly #parts: RoomStreamParts<Request>;
  #hasStopped = false;
  /** Called when the socket has drained; undefined while nothing waits for it. */
  #resumes: Set<() => void> | undefined;
  /** The error that ended the stream before a sink was attached. */
  #ended: ClientError | undefined;

  constructor(parts: RoomStreamParts<Request>) {
    this.request = parts.request;
    this.counts = parts.counts;
    this.#parts = parts;
  }

  abstract get cursor(): Stream['cursor'];
  abstract endAsSlowConsumer(message: StreamMessage): void;
  /** Called when the stream starts. */
  protected abstract begin(): void;
  /** Called when the stream has ended: releases what it follows. */
  protected abstract release(): void;

  get hasStopped(): boolean {
    return this.#hasStopped;
  }

  start(sink: Sink): void {
    if (this.#ended) return sink.end(this.#ended);
    if (this.#hasStopped) return;
    this.sink = sink;
    this.begin();
  }

  stop(reason: StreamEnd): void {
    this.#stop(reason);
  }

  end(error: ClientError): void {
    if (this.#hasStopped) return;
    const { sink } = this;
    this.#stop(error.code);
    if (sink) sink.end(error);
    else this.#ended = error;
  }

  /** Closes the connection without an end of the stream, so that the client can resume it. */
  disconnect(): void {
    const { sink } = this;
    this.stop('server_stop');
    sink?.disconnect();
  }

  becomePersonal(): boolean {
    // A stream that has stopped may still leave its groups; nothing would release its share.
    if (this.#hasStopped) return false;
    try {
      this.#parts.share.reserve();
      return true;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.end(error);
      return false;
    }
  }

  /** Ends the stream, because a read of the log has failed. */
  protected fail(error: unknown): void {
    this.#parts.onError(error);
    this.end(new ClientError('SERVICE_UNAVAILABLE'));
  }

  protected waitUntilDrained(resume: () => void): void {
    if (!this.sink) return;
    if (!this.#resumes) this.sink.onceDrained(() => this.#resume());
    this.#setWaiting((this.#resumes ?? new Set()).add(resume));
  }

  #resume(): void {
    const resumes = this.#resumes ?? [];
    this.#setWaiting(undefined);
    for (const resume of resumes) resume();
  }

  #stop(reason: StreamEnd | ErrorCode): void {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.sink = undefined;
    this.#setWaiting(undefined);
    this.release();
    this.#parts.share.release();
    this.request.onEnd();
    this.#parts.onEnd(reason);
  }

  #setWaiting(resumes: Set<() => void> | undefined): void {
    this.counts.slowConsumers += Number(resumes !== undefined) - Number(this.#resumes !== undefined);
    this.#resumes = resumes;
  }
}
