import { setImmediate } from 'node:timers/promises';
import { ClientError, type ErrorCode } from '../../errors.ts';
import { yieldWhenDue } from '../../event-loop.ts';
import { chunksOf } from '../chunks.ts';
import type { GroupCosts, GroupReservation } from '../groups/group-costs.ts';
import type { LiveCounts, StreamEnd, StreamTransport } from '../live-counts.ts';
import { StreamMessage } from '../stream.ts';
import { groupKeyOf, personal } from '../subscribe-request.ts';
import { type StateRequest, StateStream } from './state-stream.ts';

const retryMs = 1_000;
/** The streams that are written in one turn of the event loop. */
const maxDelivered = 250;

export interface StateStreamsParts<State> {
  /** Different for each state. */
  name: string;
  read: () => State | Promise<State>;
  /** Whether a state that equals the one before is left out. */
  onlyChanges: boolean;
  costs: GroupCosts;
  counts: LiveCounts;
  onError: (error: unknown) => void;
}

interface StreamListener {
  onStart?: () => void;
  onEnd?: (reason: StreamEnd | ErrorCode) => void;
}

/**
 * The streams of one state. The latest state is executed once for all streams that select the same. Executions of one
 * state run one after the other, so that an older state never follows a newer one.
 */
export class StateStreams<State> {
  readonly #parts: StateStreamsParts<State>;
  readonly #reservations = new Map<StateStream<State>, GroupReservation>();
  readonly #started = new Set<StateStream<State>>();
  /** The streams that the latest state is sent to next. */
  #due = new Set<StateStream<State>>();
  #isSending = false;
  /** The streams for which the execution failed; it is tried again later. */
  readonly #failed = new Set<StateStream<State>>();

  constructor(parts: StateStreamsParts<State>) {
    this.#parts = parts;
  }

  /** The stream receives the state at once when it has started. @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  subscribe(request: StateRequest<State>, { onStart, onEnd }: StreamListener = {}): StateStream<State> {
    const { counts, onlyChanges } = this.#parts;
    const reservation = this.#reserve(request);
    counts.started[request.transport] += 1;
    const stream: StateStream<State> = new StateStream({
      request,
      counts,
      onlyChanges,
      onStart: () => {
        this.#started.add(stream);
        onStart?.();
        this.#sendTo([stream]);
      },
      onEnd: (reason) => {
        this.#remove(stream, reason);
        onEnd?.(reason);
      },
    });
    this.#reservations.set(stream, reservation);
    return stream;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#reservations.size;
  }

  /** The open streams. */
  get open(): StateStream<State>[] {
    return [...this.#reservations.keys()];
  }

  /** The number of open streams over a transport. */
  countOpen(transport: StreamTransport): number {
    const streams = this.#reservations.keys();
    return streams.reduce((count, { request }) => count + Number(request.transport === transport), 0);
  }

  /** Sends the latest state to all streams. */
  send(): void {
    this.#sendTo(this.#started);
  }

  /** Cuts every connection; clients connect to another server. */
  close(): void {
    for (const stream of this.open) stream.disconnect();
  }

  #sendTo(streams: Iterable<StateStream<State>>): void {
    for (const stream of streams) this.#due.add(stream);
    if (this.#isSending) return;
    this.#isSending = true;
    void this.#sendDue();
  }

  async #sendDue(): Promise<void> {
    // Streams that start in the same turn share an execution.
    await setImmediate();
    while (this.#due.size > 0) {
      const due = this.#due;
      this.#due = new Set();
      await this.#execute(due).catch((error) => this.#tryAgain(due, error));
    }
    // In the same synchronous step as the last check of `#due`, so that no stream is forgotten.
    this.#isSending = false;
  }

  async #execute(streams: Set<StateStream<State>>): Promise<void> {
    const state = await this.#parts.read();
    for (const group of Map.groupBy(streams, ({ request }) => groupKeyOf(request)).values()) {
      await this.#executeGroup(group, state).catch((error) => this.#tryAgain(group, error));
      await yieldWhenDue();
    }
  }

  async #executeGroup(group: readonly StateStream<State>[], state: State): Promise<void> {
    const json = await group[0]?.request.execute(state);
    if (json === undefined) return;
    if (json === personal) return this.#split(group);
    const message = new StreamMessage(undefined, json);
    for (const streams of chunksOf(group, maxDelivered)) {
      for (const stream of streams) stream.deliver(message);
      // The sockets of these streams are written at the end of the turn.
      if (streams.length === maxDelivered) await setImmediate();
    }
  }

  /** The selection is personal: each viewer has a separate group from now on, for which the state is executed next. */
  #split(group: readonly StateStream<State>[]): void {
    for (const stream of group) {
      if (!this.#started.has(stream)) continue;
      try {
        this.#release(stream);
        this.#reservations.set(stream, this.#reserve(stream.request));
        this.#due.add(stream);
      } catch (error) {
        if (!(error instanceof ClientError)) throw error;
        stream.end(error);
      }
    }
  }

  #tryAgain(streams: Iterable<StateStream<State>>, error: unknown): void {
    this.#parts.onError(error);
    if (this.#failed.size === 0) setTimeout(() => this.#sendToFailed(), retryMs).unref();
    for (const stream of streams) this.#failed.add(stream);
  }

  #sendToFailed(): void {
    const failed = [...this.#failed].filter((stream) => this.#started.has(stream));
    this.#failed.clear();
    this.#sendTo(failed);
  }

  #reserve(request: StateRequest<State>): GroupReservation {
    const { cost, address, chargedId } = request;
    const group = `${this.#parts.name} ${groupKeyOf(request)}`;
    return this.#parts.costs.reserve({ group, cost, address, chargedId });
  }

  #release(stream: StateStream<State>): void {
    const reservation = this.#reservations.get(stream);
    if (reservation) this.#parts.costs.release(reservation);
    this.#reservations.delete(stream);
  }

  #remove(stream: StateStream<State>, reason: StreamEnd | ErrorCode): void {
    this.#release(stream);
    this.#started.delete(stream);
    this.#due.delete(stream);
    this.#parts.counts.countEnd(stream.request.transport, reason);
    stream.request.onEnd();
  }
}
