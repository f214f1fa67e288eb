import { ClientError } from '../../errors.ts';
import type { FanOut } from '../fan-out.ts';
import type { Feed, FeedFollower } from '../feed/feed.ts';
import type { StateStream } from '../states/state-stream.ts';
import type { StateStreams } from '../states/state-streams.ts';
import type { OwnPresence } from './own-presence.ts';
import type { PresenceState } from './presence-state.ts';

export interface AccessParts {
  fanOut: Pick<FanOut, 'follow' | 'unfollow'>;
  /** Finds the users among `userIds` who may see the room; undefined if every user may see it. */
  findReaders: (roomId: string, userIds: readonly string[]) => Promise<Set<string> | undefined>;
}

interface Viewers {
  streams: Pick<StateStreams<PresenceState>, 'open'>;
  own: OwnPresence;
}

/** Ends the presence of viewers who may no longer see the room. */
export class RoomAccess implements FeedFollower {
  readonly #roomId: string;
  readonly #viewers: Viewers;
  readonly #parts: AccessParts;
  #watching: Promise<Feed> | undefined;

  constructor(roomId: string, viewers: Viewers, parts: AccessParts) {
    this.#roomId = roomId;
    this.#viewers = viewers;
    this.#parts = parts;
  }

  /** Resolves when later changes of access are found. @throws ClientError ROOM_DELETED. */
  async watch(): Promise<void> {
    const watching = this.#watching ?? this.#parts.fanOut.follow(this.#roomId, this);
    this.#watching = watching;
    try {
      if ((await watching).deleted) throw new ClientError('ROOM_DELETED');
    } catch (error) {
      if (!(error instanceof ClientError) && this.#watching === watching) this.#watching = undefined;
      throw error;
    }
  }

  stop(): void {
    this.#watching?.then((feed) => this.#parts.fanOut.unfollow(feed, this)).catch(() => {});
  }

  async checkAccess(): Promise<void> {
    const { streams, own } = this.#viewers;
    // Not those who enter while the database is read: their own subscription is checked.
    const { usersWithLimitedAccess, anonymousAddresses } = own;
    const readers = await this.endStreamsWithout(streams.open, usersWithLimitedAccess);
    if (!readers) return;
    own.removeAnonymous(anonymousAddresses);
    for (const id of usersWithLimitedAccess) if (!readers.has(id)) own.remove(id);
  }

  /** The room is deleted. */
  end(): void {
    for (const stream of this.#viewers.streams.open) stream.end(new ClientError('ROOM_DELETED'));
    this.#viewers.own.clear();
  }

  /**
   * Ends the streams of viewers who may not see the room. Returns the users who may, among the viewers and `others`;
   * undefined if everyone may.
   */
  async endStreamsWithout(
    streams: readonly StateStream<PresenceState>[],
    others: readonly string[] = [],
  ): Promise<Set<string> | undefined> {
    const limited = streams.filter(({ request }) => !request.visibleRooms.seesAll);
    const userIds = new Set(limited.flatMap(({ request }) => request.visibleRooms.userId ?? []).concat(others));
    const readers = await this.#parts.findReaders(this.#roomId, [...userIds]);
    if (!readers) return undefined;
    for (const stream of limited) {
      const { userId } = stream.request.visibleRooms;
      if (userId === null || !readers.has(userId)) stream.end(new ClientError('MEMBERSHIP_REVOKED'));
    }
    return readers;
  }
}
