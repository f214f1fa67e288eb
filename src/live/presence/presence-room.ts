import { ClientError, type ErrorCode } from '../../errors.ts';
import { type Bus, type BusMessage, roomTopic } from '../bus/bus.ts';
import type { FanOut } from '../fan-out.ts';
import type { Feed, FeedFollower } from '../feed/feed.ts';
import type { StreamEnd } from '../live-counts.ts';
import { Pace } from '../states/pace.ts';
import type { StateRequest, StateStream } from '../states/state-stream.ts';
import { StateStreams, type StateStreamsParts } from '../states/state-streams.ts';
import { OwnPresence, type PresentViewer } from './own-presence.ts';
import type { PresenceState } from './presence-state.ts';

/** At most four states in a second. */
const sendIntervalMs = 250;
/** After these ends the client is expected to connect again. */
const mayReturn: ReadonlySet<StreamEnd | ErrorCode> = new Set(['disconnected', 'server_stop']);

export interface PresenceRoomParts extends Pick<StateStreamsParts<PresenceState>, 'costs' | 'counts' | 'onError'> {
  bus: Bus;
  fanOut: Pick<FanOut, 'follow' | 'unfollow'>;
  /** Finds the users among `userIds` who may see the room; undefined if every user may see it. */
  findReaders: (roomId: string, userIds: readonly string[]) => Promise<Set<string> | undefined>;
}

/** The presence in one room, as this node sees it. It is open while somebody uses it. */
export class PresenceRoom implements FeedFollower {
  readonly roomId: string;
  readonly streams: StateStreams<PresenceState>;
  readonly own: OwnPresence;
  readonly #parts: PresenceRoomParts;
  readonly #onUnused: () => void;
  readonly #pace = new Pace(sendIntervalMs, () => this.streams.send());
  readonly #opened: Promise<Feed>;
  #uses = 0;
  #leaveBus = () => {};

  constructor(roomId: string, parts: PresenceRoomParts, onUnused: () => void) {
    this.roomId = roomId;
    this.#parts = parts;
    this.#onUnused = onUnused;
    this.own = new OwnPresence(() => this.#change());
    const read = () => this.read();
    this.streams = new StateStreams({ ...parts, name: `presence ${roomId}`, read, onlyChanges: true });
    this.#opened = this.#open();
  }

  /** Does work with the open room, and keeps it open meanwhile. */
  async use<T>(work: () => T | Promise<T>): Promise<T> {
    this.#uses += 1;
    try {
      await this.#opened;
      return await work();
    } finally {
      this.#uses -= 1;
      this.#closeIfUnused();
    }
  }

  read(): PresenceState {
    const { roomId, own } = this;
    return {
      roomId,
      count: own.users.size + own.anonymous,
      users: own.first,
      typing: own.typing.map(({ id }) => id),
    };
  }

  /**
   * Creates a stream of the presence. Once it is started, `viewer` is present until it ends; null for a stream that does
   * not show its viewer. @throws ClientError ROOM_DELETED or SUBSCRIPTION_LIMIT_EXCEEDED.
   */
  async subscribe(
    request: StateRequest<PresenceState>,
    viewer: PresentViewer | null,
  ): Promise<StateStream<PresenceState>> {
    if ((await this.#opened).deleted) throw new ClientError('ROOM_DELETED');
    let hasEntered = false;
    const stream = this.streams.subscribe(request, {
      onStart: () => {
        hasEntered = true;
        if (viewer) this.own.enter(viewer);
      },
      onEnd: (reason) => {
        if (viewer && hasEntered) this.own.leave(viewer, mayReturn.has(reason));
        this.#closeIfUnused();
      },
    });
    // Later changes of access are found by the feed. This check covers the changes before now.
    await this.#endLostAccess([stream]);
    return stream;
  }

  async checkAccess(): Promise<void> {
    const readers = await this.#endLostAccess(this.streams.open, this.own.usersWithLimitedAccess);
    if (!readers) return;
    this.own.removeAnonymous();
    for (const id of this.own.usersWithLimitedAccess) if (!readers.has(id)) this.own.remove(id);
  }

  /** The room is deleted. */
  end(): void {
    for (const stream of this.streams.open) stream.end(new ClientError('ROOM_DELETED'));
    this.own.clear();
  }

  /** Cuts every connection; clients connect to another server. */
  close(): void {
    this.streams.close();
    this.own.clear();
  }

  /** Ends the streams of viewers who may no longer see the room. Returns the users who may; undefined if all may. */
  async #endLostAccess(
    streams: readonly StateStream<PresenceState>[],
    others: readonly string[] = [],
  ): Promise<Set<string> | undefined> {
    const limited = streams.filter(({ request }) => !request.visibleRooms.seesAll);
    const userIds = new Set(limited.flatMap(({ request }) => request.visibleRooms.userId ?? []).concat(others));
    const readers = await this.#parts.findReaders(this.roomId, [...userIds]);
    if (!readers) return undefined;
    for (const stream of limited) {
      const { userId } = stream.request.visibleRooms;
      if (userId === null || !readers.has(userId)) stream.end(new ClientError('MEMBERSHIP_REVOKED'));
    }
    return readers;
  }

  async #open(): Promise<Feed> {
    const { bus, fanOut } = this.#parts;
    this.#leaveBus = await bus.subscribe(roomTopic(this.roomId), (message) => this.#receive(message));
    try {
      return await fanOut.follow(this.roomId, this);
    } catch (error) {
      this.#leaveBus();
      throw error;
    }
  }

  #receive(message: BusMessage): void {
    const { event } = message.type === 'roomChanged' ? message : {};
    if (event?.type === 'PostCreated' && event.actorId !== null) this.own.stopTyping(event.actorId);
  }

  #change(): void {
    this.#pace.request();
    this.#closeIfUnused();
  }

  #closeIfUnused(): void {
    if (this.#uses > 0 || this.streams.size > 0 || !this.own.isEmpty) return;
    this.#onUnused();
    this.#pace.stop();
    this.#leaveBus();
    this.#opened.then((feed) => this.#parts.fanOut.unfollow(feed, this)).catch(() => {});
  }
}
