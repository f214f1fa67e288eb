import type { ViewerScope } from '../data/domain/visible-rooms.ts';
import { ClientError, type ErrorCode } from '../errors.ts';
import type { GroupCosts, GroupReservation } from './groups/group-costs.ts';
import type { LiveCounts, StreamEnd } from './live-counts.ts';
import { groupKeyOf, type Sink, type Stream, type StreamMessage, type StreamRequest } from './stream.ts';

export interface LiveStreamParts<Request extends StreamRequest = StreamRequest> {
  request: Request;
  /** What the stream follows: streams of one source that select the same are executed together. */
  source: string;
  costs: GroupCosts;
  counts: LiveCounts;
  onEnd: (reason: StreamEnd | ErrorCode) => void;
  onError: (error: unknown) => void;
}

/** The life of a stream: it counts from its creation, starts when it gets its sink, and ends once, from either side. */
export abstract class LiveStream<Parts extends LiveStreamParts = LiveStreamParts> implements Stream {
  readonly request: Parts['request'];
  readonly counts: LiveCounts;
  sink: Sink | undefined;
  protected readonly parts: Parts;
  /** Its share in the cost of its group. */
  #reservation: GroupReservation | undefined;
  hasStopped = false;
  isReplaying = false;
  #isWaiting = false;
  /** Called when the socket has drained; undefined while nothing waits for it. */
  #resumes: Set<() => void> | undefined;
  /** The error that ended the stream before a sink was attached. */
  #ended: ClientError | undefined;

  /** @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  constructor(parts: Parts) {
    this.request = parts.request;
    this.counts = parts.counts;
    this.parts = parts;
    this.#reserve();
    this.counts.countStart(this.request.transport);
  }

  abstract get cursor(): Stream['cursor'];
  abstract endAsSlowConsumer(message: StreamMessage): void;
  /** Called when the stream starts. */
  protected abstract begin(): void;
  /** Called when the stream has ended: releases what it follows. */
  protected release(): void {}

  get viewerScope(): ViewerScope {
    return this.request.viewerScope;
  }

  start(sink: Sink): void {
    if (this.#ended) return sink.end(this.#ended);
    if (this.hasStopped) return;
    this.sink = sink;
    this.begin();
  }

  stop(reason: StreamEnd | ErrorCode): void {
    if (this.hasStopped) return;
    this.hasStopped = true;
    this.sink = undefined;
    this.#resumes = undefined;
    this.setWaiting(false);
    this.release();
    this.#releaseCost();
    this.request.onEnd();
    this.counts.countEnd(this.request.transport, reason);
    this.parts.onEnd(reason);
  }

  end(error: ClientError): void {
    if (this.hasStopped) return;
    const { sink } = this;
    this.stop(error.code);
    if (sink) sink.end(error);
    else this.#ended = error;
  }

  /** Closes the connection without an end of the stream, so that the client can resume it. */
  disconnect(reason: StreamEnd | ErrorCode = 'server_stop'): void {
    const { sink } = this;
    this.stop(reason);
    sink?.disconnect();
  }

  /** The selection is personal: the stream counts for its viewer from now on. Returns false if that ends the stream. */
  becomePersonal(): boolean {
    this.request.traits.isPersonal = true;
    // A stream that has stopped may still leave its groups; nothing would release its share.
    if (this.hasStopped) return false;
    try {
      this.#releaseCost();
      this.#reserve();
      return true;
    } catch (error) {
      if (!(error instanceof ClientError)) throw error;
      this.end(error);
      return false;
    }
  }

  /** Ends the stream, because a read of the log has failed. */
  fail(error: unknown): void {
    this.parts.onError(error);
    this.disconnect('SERVICE_UNAVAILABLE');
  }

  waitUntilDrained(resume: () => void): void {
    if (!this.sink) return;
    if (!this.#resumes) this.sink.onceDrained(() => this.#resume());
    this.#resumes = (this.#resumes ?? new Set()).add(resume);
    this.setWaiting(true);
  }

  protected endReplay(): void {
    if (!this.isReplaying) return;
    this.isReplaying = false;
    this.sink?.caughtUp?.();
  }

  /** Whether the stream waits until the client has read. */
  protected setWaiting(isWaiting: boolean): void {
    this.counts.slowConsumers += Number(isWaiting) - Number(this.#isWaiting);
    this.#isWaiting = isWaiting;
  }

  #resume(): void {
    const resumes = this.#resumes ?? [];
    this.#resumes = undefined;
    this.setWaiting(false);
    for (const resume of resumes) resume();
  }

  #reserve(): void {
    const { costs, source } = this.parts;
    this.#reservation = costs.reserve(groupOf(source, this.request), this.request);
  }

  #releaseCost(): void {
    if (this.#reservation) this.parts.costs.release(this.#reservation);
    this.#reservation = undefined;
  }
}

/** The name of the group of a stream in the costs. */
export function groupOf(source: string, request: StreamRequest): string {
  return `${source} ${groupKeyOf(request)}`;
}
