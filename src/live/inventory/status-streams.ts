import type { ErrorCode } from '../../errors.ts';
import type { GroupCosts, GroupReservation } from '../group-costs.ts';
import type { LiveCounts, StreamEnd, StreamTransport } from '../live-counts.ts';
import { Frame, type Stream } from '../stream.ts';
import type { Inventory } from './inventory.ts';
import { type StatusRequest, StatusStream } from './status-stream.ts';

const intervalMs = 1_000;

export interface StatusStreamsParts {
  inventory: Pick<Inventory, 'readStatus'>;
  costs: GroupCosts;
  counts: LiveCounts;
  onError: (error: unknown) => void;
}

/** The streams of the server's state. While there are any, the state is read once a second for all of them. */
export class StatusStreams {
  readonly #parts: StatusStreamsParts;
  readonly #groups = new Map<string, Set<StatusStream>>();
  #timer: NodeJS.Timeout | undefined;
  #isSending = false;
  /** The number of the latest state. */
  #lastNumber = 0;

  constructor(parts: StatusStreamsParts) {
    this.#parts = parts;
  }

  /** @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  subscribe(request: StatusRequest): Stream {
    const { key, cost, address, userId, transport } = request;
    const reservation = this.#parts.costs.reserve({ group: `status ${key}`, cost, address, userId });
    this.#parts.counts.started[transport] += 1;
    const stream: StatusStream = new StatusStream({
      request,
      counts: this.#parts.counts,
      onStart: () => void this.#sendTo(() => [[stream]]),
      onEnd: (reason) => this.#remove(stream, reservation, reason),
    });
    const group = this.#groups.get(key) ?? new Set();
    this.#groups.set(key, group.add(stream));
    this.#timer ??= setInterval(() => void this.#sendToAll(), intervalMs).unref();
    return stream;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#groups.values().reduce((count, { size }) => count + size, 0);
  }

  /** The number of open streams over a transport. */
  countOpen(transport: StreamTransport): number {
    const streams = this.#groups.values().flatMap((group) => group.values());
    return streams.reduce((count, { request }) => count + Number(request.transport === transport), 0);
  }

  /** Cuts every connection; clients connect to another server. */
  close(): void {
    const streams = [...this.#groups.values().flatMap((group) => group.values())];
    for (const stream of streams) stream.disconnect();
  }

  #remove(stream: StatusStream, reservation: GroupReservation, reason: StreamEnd | ErrorCode): void {
    const { key, transport, onEnd } = stream.request;
    const group = this.#groups.get(key);
    group?.delete(stream);
    if (group?.size === 0) this.#groups.delete(key);
    this.#parts.costs.release(reservation);
    this.#parts.counts.countEnd(transport, reason);
    onEnd();
    if (this.#groups.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Does nothing while the state before is still being sent. */
  async #sendToAll(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    await this.#sendTo(() => [...this.#groups.values()]);
    this.#isSending = false;
  }

  /** Executes the selection of each group once. */
  async #sendTo(groups: () => readonly Iterable<StatusStream>[]): Promise<void> {
    try {
      const status = await this.#parts.inventory.readStatus();
      this.#lastNumber += 1;
      const number = this.#lastNumber;
      for (const group of groups()) {
        const [first] = group;
        if (!first) continue;
        const frame = new Frame(undefined, await first.request.execute(status));
        for (const stream of group) stream.deliver(frame, number);
      }
    } catch (error) {
      this.#parts.onError(error);
    }
  }
}
