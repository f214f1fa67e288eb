import { Histogram } from '../common/histogram.ts';
import type { ErrorCode } from '../errors.ts';

/** Over what a stream is sent. */
export const streamTransports = ['sse', 'multipart', 'websocket'] as const;
export type StreamTransport = (typeof streamTransports)[number];

/**
 * Why a stream ended without an error: the client completed it or closed its connection, the connection was lost, the
 * server closed the connection (for its credentials or a limit), or the server stops.
 */
export type StreamEnd = 'client' | 'disconnected' | 'connection_closed' | 'server_stop';

type Ends = Map<StreamEnd | ErrorCode, number>;

/** In seconds. */
const lagBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The streams that are open, and what was done since the start of the process. */
export class LiveCounts {
  /** Executions of a selection for an event. */
  executions = 0;
  /** Events written to live subscribers. */
  deliveries = 0;
  /** Events written to subscribers that catch up from the log. */
  replayed = 0;
  /** Reads of the logs of rooms. */
  logReads = 0;
  /** The subscribers that wait until their sockets have drained. */
  slowConsumers = 0;
  readonly open: Record<StreamTransport, number> = { sse: 0, multipart: 0, websocket: 0 };
  readonly started: Record<StreamTransport, number> = { sse: 0, multipart: 0, websocket: 0 };
  readonly ended: Record<StreamTransport, Ends> = { sse: new Map(), multipart: new Map(), websocket: new Map() };
  /** The attempts to continue after a cursor, by outcome. */
  readonly resumes = new Map<'OK' | ErrorCode, number>([['OK', 0]]);
  /** The seconds from the time of an event to its write, once for each live delivery. */
  readonly deliveryLag = new Histogram(lagBounds);
  #delivered: { at: number; count: number }[] = [];

  countStart(transport: StreamTransport): void {
    this.open[transport] += 1;
    this.started[transport] += 1;
  }

  /** A client that disconnects is not told apart from a client that completes: many never complete. */
  countEnd(transport: StreamTransport, reason: StreamEnd | ErrorCode): void {
    this.open[transport] -= 1;
    increase(this.ended[transport], reason === 'disconnected' ? 'client' : reason);
  }

  countResume(outcome: 'OK' | ErrorCode): void {
    increase(this.resumes, outcome);
  }

  /**
   * Records the lag of an event after its deliveries. Sockets are written at the end of the turn, by an immediate that
   * the deliveries have scheduled before.
   */
  recordLag(at: number, count: number): void {
    if (count === 0) return;
    if (this.#delivered.push({ at, count }) === 1) setImmediate(() => this.#observeLags());
  }

  #observeLags(): void {
    const delivered = this.#delivered;
    this.#delivered = [];
    const now = Date.now();
    // The clock of another node may be ahead.
    for (const { at, count } of delivered) this.deliveryLag.observe(Math.max(0, now - at) / 1_000, count);
  }
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
