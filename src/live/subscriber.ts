import { setImmediate } from 'node:timers/promises';
import type { RoomEvent } from '../data/events.ts';
import { ClientError } from '../errors.ts';
import { yieldWhenDue } from '../event-loop.ts';
import type { Feed } from './feed.ts';
import type { Group } from './group.ts';
import type { GroupHold } from './group-costs.ts';
import type { Rendered } from './rendered.ts';
import { personal, type SubscribeRequest } from './selection.ts';

/** Where a subscriber's events go: one operation on a WebSocket, one SSE response. */
export interface Sink {
  /** Takes one event; never refuses. */
  write(rendered: Rendered): void;
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
  cursorAt(roomId: string, seq: number): string;
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
  /** The number of the event behind which it stands. */
  position: number;
  /** Its part of what its group costs. */
  hold: GroupHold | undefined;
  readonly #hub: SubscriberHub;
  #group: Group | undefined;
  #sink: Sink | undefined;
  #hasLeft = false;
  /** What ended it before it had a sink to say so. */
  #ended: ClientError | undefined;
  #isReading = false;

  constructor(hub: SubscriberHub, feed: Feed, request: SubscribeRequest, position: number) {
    this.#hub = hub;
    this.feed = feed;
    this.request = request;
    this.position = position;
  }

  /** The position it has reached, for `after`. */
  get cursor(): string {
    return this.#hub.cursorAt(this.feed.roomId, this.position);
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

  deliver(rendered: Rendered): void {
    if (rendered.seq <= this.position || !this.#sink) return;
    if (this.#sink.isFull()) return this.fallBehind(rendered.seq - 1);
    this.position = rendered.seq;
    this.#sink.write(rendered);
  }

  /** Live, it has seen everything up to `seq`, and has passed over what its selection leaves out. */
  reach(seq: number): void {
    this.position = Math.max(this.position, seq);
  }

  /** Off the live path from `seq` on: it costs its neighbours nothing, and no memory beyond what waits on its socket. */
  fallBehind(seq: number): void {
    this.reach(seq);
    this.#group?.fallBehind(this);
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
        if (this.position >= this.#group.position) return this.#group.goLive(this);
        const events = await this.feed.read(this.position, batchLength);
        if (!events) return this.#endSlow();
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
      // Sent already, by another way, while it was rendered.
      if (event.seq <= this.position) continue;
      this.position = event.seq;
      if (rendered) this.#sink?.write(rendered);
      if (this.#sink?.isFull()) return;
    }
  }

  #endSlow(): void {
    const cursor = this.#hub.cursorAt(this.feed.roomId, this.feed.head);
    this.end(new ClientError('SLOW_CONSUMER', undefined, { live: { cursor } }));
  }
}
