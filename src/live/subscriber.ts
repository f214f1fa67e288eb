import { setImmediate } from 'node:timers/promises';
import type { LogPosition, RoomEvent } from '../data/events.ts';
import { ClientError } from '../errors.ts';
import { yieldWhenDue } from '../event-loop.ts';
import { encodeCursor } from './cursor.ts';
import type { EncodedEvent } from './encoded-event.ts';
import { type Feed, isLoss, type Loss } from './feed.ts';
import type { Group } from './group.ts';
import type { GroupHold } from './group-costs.ts';
import { personal, type SubscribeRequest } from './subscribe-request.ts';

/** Where a subscriber's events go: one operation on a WebSocket, one SSE response. */
export interface Sink {
  /** Takes one event; never refuses. */
  write(rendered: EncodedEvent): void;
  /** Whether more bytes wait on the socket than a live reader may leave unread. */
  isFull(): boolean;
  /** Calls back once, when the socket has drained. */
  onceDrained(resume: () => void): void;
  /** The stream is over, and why. */
  end(error: ClientError): void;
  /** The server goes; the stream is not over, and its client goes on with another. */
  cut(): void;
}

/** What all subscribers of a fan-out share. */
export interface SubscriberHub {
  findGroup(subscriber: Subscriber): Group;
  forget(subscriber: Subscriber): void;
  onError(error: unknown): void;
}

const batchLength = 64;

/**
 * One stream. Live, it gets what its group renders; fallen behind, it reads the log at its own pace and goes live again.
 * `position` only grows, and only events behind it are sent: each once, in order.
 */
export class Subscriber {
  readonly feed: Feed;
  readonly request: SubscribeRequest;
  /** After the latest event that was sent, or that its selection leaves out. */
  position: LogPosition;
  /** Its part of what its group costs. */
  hold: GroupHold | undefined;
  readonly #hub: SubscriberHub;
  #group: Group | undefined;
  #sink: Sink | undefined;
  #hasLeft = false;
  /** What ended it before it had a sink to say so. */
  #ended: ClientError | undefined;
  #isReading = false;
  /** The feed's generation in which the position was last found in the log; none at first. */
  #generation: number | undefined;

  constructor(hub: SubscriberHub, feed: Feed, request: SubscribeRequest, position: LogPosition) {
    this.#hub = hub;
    this.feed = feed;
    this.request = request;
    this.position = position;
  }

  /** The position it has reached, for `after`. */
  get cursor(): string {
    const { seq, mark } = this.position;
    return encodeCursor({ roomId: this.feed.roomId, seq, mark });
  }

  /** Starts the stream. */
  attach(sink: Sink): void {
    if (this.#ended) return sink.end(this.#ended);
    if (this.#hasLeft) return;
    this.#sink = sink;
    this.enter(this.#hub.findGroup(this));
  }

  /** Into a group, or over to another, from where it stands. */
  enter(group: Group): void {
    if (this.#hasLeft) return;
    this.#group?.remove(this);
    this.#group = group;
    group.add(this);
    if (this.feed.deleted) this.endDeleted();
    else this.#catchUp();
  }

  deliver(rendered: EncodedEvent): void {
    if (rendered.position.seq <= this.position.seq || !this.#sink) return;
    if (this.#sink.isFull()) return this.fallBehind(rendered.previous);
    this.position = rendered.position;
    this.#sink.write(rendered);
  }

  /** Live, it has received everything up to a position, but for what its selection leaves out. */
  reach(position: LogPosition): void {
    if (position.seq > this.position.seq) this.position = position;
  }

  /** Off the live path from a position on: it costs its neighbours nothing, and no memory beyond what waits on its socket. */
  fallBehind(position: LogPosition): void {
    this.reach(position);
    this.#group?.fallBehind(this);
    this.#catchUp();
  }

  /** The database was rewound: it continues where the new history still holds its position, and ends where it does not. */
  restart(): void {
    this.#catchUp();
  }

  /** Ends the stream from the client's side; leaves nothing behind. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#group?.remove(this);
    this.#hub.forget(this);
  }

  /** Ends the stream from the server's side. */
  end(error: ClientError): void {
    if (this.#hasLeft) return;
    this.leave();
    if (this.#sink) this.#sink.end(error);
    else this.#ended = error;
  }

  /** Ends the connection rather than the stream. */
  cut(): void {
    this.leave();
    this.#sink?.cut();
  }

  /** The stream cannot keep up: its client reads the room again, and continues from there. */
  endSlow(): void {
    this.#endLost('trimmed');
  }

  endDeleted(): void {
    this.end(new ClientError('ROOM_DELETED'));
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
      while (this.#group && this.#sink && !this.#hasLeft) {
        if (this.#sink.isFull()) return this.#sink.onceDrained(() => this.#catchUp());
        const { generation } = this.feed;
        const isFound = this.#generation === generation;
        if (isFound && this.position.seq >= this.#group.position.seq) return this.#group.goLive(this);
        const events = await this.feed.read(this.position, batchLength);
        if (isLoss(events)) return this.#endLost(events);
        this.#generation = generation;
        if (!isFound) continue;
        await this.#replay(events);
        // A herd of readers must not keep the event loop from writing what they read.
        await setImmediate();
      }
    } finally {
      this.#isReading = false;
    }
  }

  async #replay(events: readonly RoomEvent[]): Promise<void> {
    for (const event of events) {
      await yieldWhenDue();
      const rendered = await this.#group?.replay(event);
      if (rendered === undefined || rendered === personal || this.#hasLeft) return;
      if (this.#generation !== this.feed.generation) return;
      // Sent already, by another way, while it was rendered.
      if (event.seq <= this.position.seq) continue;
      this.position = rendered?.position ?? { seq: event.seq, mark: event.mark };
      if (rendered) this.#sink?.write(rendered);
      if (this.#sink?.isFull()) return;
    }
  }

  #endLost(loss: Loss): void {
    const code = loss === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER';
    this.end(new ClientError(code, undefined, { live: { cursor: this.feed.cursor } }));
  }
}
