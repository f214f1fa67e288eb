import { setImmediate } from 'node:timers/promises';
import type { LogPosition, RoomEvent } from '../data/events.ts';
import { ClientError, type ErrorCode } from '../errors.ts';
import { yieldWhenDue } from '../event-loop.ts';
import { encodeCursor } from './cursor.ts';
import type { EncodedEvent } from './encoded-event.ts';
import { type Feed, isReadFailure, type ReadFailure } from './feed/feed.ts';
import type { Group, Member } from './group.ts';
import type { GroupReservation } from './group-costs.ts';
import type { LiveCounts, StreamEnd } from './live-counts.ts';
import type { Sink, Stream } from './stream.ts';
import { personal, type SubscribeRequest } from './subscribe-request.ts';

/** What all subscribers of a fan-out share. */
export interface SubscriberHub {
  readonly live: LiveCounts;
  findGroup(subscriber: Subscriber): Group<Subscriber>;
  remove(subscriber: Subscriber, reason: StreamEnd | ErrorCode): void;
  onError(error: unknown): void;
}

const batchLength = 64;

/**
 * One stream of one client. A live subscriber receives the events that its group sends. A subscriber that has fallen
 * behind reads the log at its own pace, then becomes live again. `position` only increases, and only events after it
 * are sent: each once, in order.
 */
export class Subscriber implements Stream, Member {
  readonly feed: Feed;
  readonly request: SubscribeRequest;
  /** The position of the latest event that was sent, or that the selection left out. */
  position: LogPosition;
  /** Its share in the cost of its group. */
  reservation: GroupReservation | undefined;
  readonly #hub: SubscriberHub;
  #group: Group<Subscriber> | undefined;
  #sink: Sink | undefined;
  #hasStopped = false;
  /** Whether it waits until its socket has drained. */
  #isWaiting = false;
  /** The error that ended the stream before a sink was attached. */
  #ended: ClientError | undefined;
  #isReading = false;
  /** The feed's generation in which the position was last found in the log; undefined before the first check. */
  #generation: number | undefined;

  constructor(hub: SubscriberHub, feed: Feed, request: SubscribeRequest, position: LogPosition) {
    this.#hub = hub;
    this.feed = feed;
    this.request = request;
    this.position = position;
  }

  /** Its position as a cursor, for the argument `after`. */
  get cursor(): string {
    const { seq, mark } = this.position;
    return encodeCursor({ roomId: this.feed.roomId, seq, mark });
  }

  start(sink: Sink): void {
    if (this.#ended) return sink.end(this.#ended);
    if (this.#hasStopped) return;
    this.#sink = sink;
    this.enter(this.#hub.findGroup(this));
  }

  /** Joins a group, or moves to another group, and keeps its position. */
  enter(group: Group<Subscriber>): void {
    if (this.#hasStopped) return;
    this.#group?.remove(this);
    this.#group = group;
    group.add(this);
    if (this.feed.deleted) this.endDeleted();
    else this.#catchUp();
  }

  deliver(encoded: EncodedEvent): void {
    if (encoded.position.seq <= this.position.seq || !this.#sink) return;
    if (this.#sink.isFull()) return this.fallBehind(encoded.previous);
    this.position = encoded.position;
    this.#hub.live.deliveries += 1;
    this.#sink.write(encoded, encoded.at);
  }

  advanceTo(position: LogPosition): void {
    if (position.seq > this.position.seq) this.position = position;
  }

  /**
   * Stops live delivery at a position and reads on from the log. A slow subscriber does not delay the other members,
   * and uses no memory beyond the bytes that wait on its socket.
   */
  fallBehind(position: LogPosition): void {
    this.advanceTo(position);
    this.#group?.fallBehind(this);
    this.#catchUp();
  }

  restart(): void {
    this.#catchUp();
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

  /** Closes the connection without an end of the stream, so that the client can resume it. */
  disconnect(): void {
    this.stop('server_stop');
    this.#sink?.disconnect();
  }

  endAsSlowConsumer(): void {
    this.#endUnreadable('trimmed');
  }

  endDeleted(): void {
    this.end(new ClientError('ROOM_DELETED'));
  }

  #stop(reason: StreamEnd | ErrorCode): void {
    if (this.#hasStopped) return;
    this.#hasStopped = true;
    this.#setWaiting(false);
    this.#group?.remove(this);
    this.#hub.remove(this, reason);
  }

  #setWaiting(isWaiting: boolean): void {
    this.#hub.live.slowConsumers += Number(isWaiting) - Number(this.#isWaiting);
    this.#isWaiting = isWaiting;
  }

  #waitUntilDrained(sink: Sink): void {
    this.#setWaiting(true);
    sink.onceDrained(() => {
      this.#setWaiting(false);
      this.#catchUp();
    });
  }

  #catchUp(): void {
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readOn().catch((error) => {
      this.#hub.onError(error);
      this.end(new ClientError('SERVICE_UNAVAILABLE'));
    });
  }

  async #readOn(): Promise<void> {
    try {
      while (this.#group && this.#sink && !this.#hasStopped) {
        if (this.#sink.isFull()) return this.#waitUntilDrained(this.#sink);
        const { generation } = this.feed;
        const isFound = this.#generation === generation;
        if (isFound && this.position.seq >= this.#group.position.seq) return this.#group.goLive(this);
        const events = await this.feed.read(this.position, batchLength);
        if (isReadFailure(events)) return this.#endUnreadable(events);
        this.#generation = generation;
        if (!isFound) continue;
        await this.#replay(events);
        // Many concurrent readers must not keep the event loop from writing to the sockets.
        await setImmediate();
      }
    } finally {
      this.#isReading = false;
    }
  }

  async #replay(events: readonly RoomEvent[]): Promise<void> {
    for (const event of events) {
      await yieldWhenDue();
      const encoded = await this.#group?.replay(event);
      if (encoded === undefined || encoded === personal || this.#hasStopped) return;
      if (this.#generation !== this.feed.generation) return;
      // The event was sent live during this execution.
      if (event.seq <= this.position.seq) continue;
      this.position = encoded?.position ?? { seq: event.seq, mark: event.mark };
      if (encoded && this.#sink) {
        this.#hub.live.replayed += 1;
        this.#sink.write(encoded);
      }
      if (this.#sink?.isFull()) return;
    }
  }

  #endUnreadable(loss: ReadFailure): void {
    const code = loss === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER';
    this.end(new ClientError(code, undefined, { live: { cursor: this.feed.cursor } }));
  }
}
