import type { StreamTransport } from '../live-counts.ts';
import type { StateRequest } from '../states/state-stream.ts';
import { StateStreams, type StateStreamsParts } from '../states/state-streams.ts';
import type { Stream } from '../stream.ts';
import type { Inventory } from './inventory.ts';
import type { ServerStatus } from './server-status.ts';

const intervalMs = 1_000;

interface StatusStreamsParts extends Pick<StateStreamsParts<ServerStatus>, 'costs' | 'counts' | 'onError'> {
  inventory: Pick<Inventory, 'readStatus'>;
}

/** The streams of the server's state. While there are any, the state is read once a second for all of them. */
export class StatusStreams {
  readonly #streams: StateStreams<ServerStatus>;
  #timer: NodeJS.Timeout | undefined;

  constructor({ inventory, ...parts }: StatusStreamsParts) {
    const read = () => inventory.readStatus();
    this.#streams = new StateStreams({ ...parts, name: 'status', read, onlyChanges: false });
  }

  /** @throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  subscribe(request: StateRequest<ServerStatus>): Stream {
    const stream = this.#streams.subscribe(request, { onEnd: () => this.#stopIfUnused() });
    this.#timer ??= setInterval(() => this.#streams.send(), intervalMs).unref();
    return stream;
  }

  /** The number of open streams. */
  get size(): number {
    return this.#streams.size;
  }

  /** The number of open streams over a transport. */
  countOpen(transport: StreamTransport): number {
    return this.#streams.countOpen(transport);
  }

  /** Cuts every connection; clients connect to another server. */
  close(): void {
    this.#streams.close();
  }

  #stopIfUnused(): void {
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
