import type { LogPosition, ReadFailure } from '../data/event-log/events.ts';
import { ClientError } from '../errors.ts';
import type { Feed } from './feed/feed.ts';
import { type FirstRead, Follower, type Following } from './groups/follower.ts';
import type { Groups } from './groups/groups.ts';
import { LiveStream, type LiveStreamParts } from './live-stream.ts';
import type { SubscribeRequest } from './subscribe-request.ts';

export interface SubscriberStart {
  position: LogPosition;
  /** What was read when the position of a cursor was checked. */
  firstRead?: FirstRead;
}

interface SubscriberParts extends LiveStreamParts<SubscribeRequest> {
  feed: Feed;
  groups: Groups;
}

/** The stream of the events of one room. */
export class Subscriber extends LiveStream<SubscriberParts> implements Following {
  readonly feed: Feed;
  readonly #follower: Follower;

  /** `start` is not one of the parts, which are held as long as the stream is open. */
  constructor(parts: SubscriberParts, start: SubscriberStart) {
    super(parts);
    this.feed = parts.feed;
    this.#follower = new Follower(this, parts.feed, start.position, start.firstRead);
    this.isReplaying = parts.request.after !== undefined;
  }

  get cursor(): string {
    return this.#follower.cursor;
  }

  catchUp(): void {
    this.#follower.readOn().then(
      (isDone) => isDone || this.waitUntilDrained(() => this.catchUp()),
      (error) => this.fail(error),
    );
  }

  onLive(): void {
    this.endReplay();
  }

  onDeleted(): void {
    this.end(new ClientError('ROOM_DELETED'));
  }

  onUnreadable(_: Follower, failure: ReadFailure): void {
    const code = failure === 'rewound' ? 'CURSOR_EXPIRED' : 'SLOW_CONSUMER';
    this.end(new ClientError(code, undefined, { live: { cursor: this.feed.cursor } }));
  }

  endAsSlowConsumer(): void {
    this.onUnreadable(this.#follower, 'trimmed');
  }

  protected begin(): void {
    const { request, feed, groups } = this.parts;
    // A new stream gets all events live. A resumed stream gets the events before `feed.head` as a replay.
    const position = request.after === undefined ? this.#follower.position : feed.head;
    this.#follower.enter(groups.findOrCreate(feed, request, position));
  }

  protected override release(): void {
    this.#follower.leave();
  }
}
