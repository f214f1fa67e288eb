import { ClientError } from '../../errors.ts';
import type { AccessWatcher, FindUsersWithAccess } from '../access.ts';
import type { FanOut } from '../fan-out.ts';
import type { Feed } from '../feed/feed.ts';
import type { StateStream } from '../states/state-stream.ts';
import type { StateStreams } from '../states/state-streams.ts';
import type { OwnPresence } from './own-presence.ts';
import type { PresenceState } from './presence-state.ts';

export interface AccessParts {
  fanOut: Pick<FanOut, 'watchAccess' | 'unwatchAccess'>;
  findUsersWithAccess: FindUsersWithAccess;
}

interface Viewers {
  streams: Pick<StateStreams<PresenceState>, 'open'>;
  own: OwnPresence;
}

/** Ends the presence of viewers who may no longer see the room. */
export class PresenceAccess implements AccessWatcher {
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
    const watching = this.#watching ?? this.#parts.fanOut.watchAccess(this.#roomId, this);
    this.#watching = watching;
    try {
      if ((await watching).deleted) throw new ClientError('ROOM_DELETED');
    } catch (error) {
      if (!(error instanceof ClientError) && this.#watching === watching) this.#watching = undefined;
      throw error;
    }
  }

  stop(): void {
    this.#watching?.then((feed) => this.#parts.fanOut.unwatchAccess(feed, this)).catch(() => {});
  }

  async checkAccess(): Promise<void> {
    const { streams, own } = this.#viewers;
    // Not those who enter while the database is read: their own subscription is checked.
    const { usersWithLimitedAccess, anonymousAddresses } = own;
    const allowed = await this.endStreamsWithout(streams.open, usersWithLimitedAccess);
    if (!allowed) return;
    own.removeAnonymous(anonymousAddresses);
    for (const id of usersWithLimitedAccess) if (!allowed.has(id)) own.remove(id);
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
    const allowed = await this.#parts.findUsersWithAccess(this.#roomId, [...userIds]);
    if (!allowed) return undefined;
    for (const stream of limited) {
      const { userId } = stream.request.visibleRooms;
      if (userId === null || !allowed.has(userId)) stream.end(new ClientError('MEMBERSHIP_REVOKED'));
    }
    return allowed;
  }
}
