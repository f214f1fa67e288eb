import { chunksOf } from '../../common/chunks.ts';
import { CoalescedWork } from '../../common/coalesced-work.ts';
import type { Database } from '../../data/database/database.ts';
import { findInboxRooms, findMovedVersions } from '../../data/domain/inbox-rooms.ts';
import { type Bus, type BusMessage, userTopic } from '../bus/bus.ts';
import { Comparison } from '../comparison.ts';
import type { Inbox } from './inbox.ts';
import { maxInboxRooms } from './inbox-request.ts';

export interface MembershipsParts {
  database: Database;
  bus: Bus;
  onError: (error: unknown) => void;
}

/** A user with inboxes. */
interface Entry {
  readonly userId: string;
  readonly inboxes: Set<Inbox>;
  /** The version of the rooms that were read last. */
  version: number;
  /** Unsubscribes from the bus. */
  readonly leaveBus: Promise<() => void>;
  readonly reading: CoalescedWork;
}

/** No version: the rooms are read again with the next comparison. */
const unknown = -1;
/** The maximum number of users in one query: with SQLite it blocks the event loop. */
const maxCompared = 2_000;

/**
 * The rooms of all users with inboxes. The bus announces that the rooms of a user have changed, and a periodic query
 * compares the versions of all users, because its messages may be lost.
 */
export class Memberships {
  readonly #parts: MembershipsParts;
  readonly #users = new Map<string, Entry>();
  readonly #comparison: Comparison;

  constructor(parts: MembershipsParts) {
    this.#parts = parts;
    this.#comparison = new Comparison({
      bus: parts.bus,
      onError: parts.onError,
      isNeeded: () => this.#users.size > 0,
      compare: () => this.#compare(),
    });
  }

  /** Compares all users soon, because messages of the bus may have been lost. */
  compareSoon(): void {
    this.#comparison.runSoon();
  }

  /** Updates an inbox with all changes since its rooms were read, in this version. Resolves when all changes before now are known. */
  async add(inbox: Inbox, version: number): Promise<void> {
    const { userId } = inbox.request;
    const user = this.#users.get(userId) ?? this.#create(userId, version);
    user.inboxes.add(inbox);
    await user.leaveBus;
    const moved = await findMovedVersions(this.#parts.database.db, [[userId, version]]);
    if (moved.length > 0 || user.version !== version) void user.reading.request();
  }

  delete(inbox: Inbox): void {
    const user = this.#users.get(inbox.request.userId);
    if (!user?.inboxes.delete(inbox) || user.inboxes.size > 0) return;
    this.#users.delete(user.userId);
    this.#comparison.check();
    user.leaveBus.then((leave) => leave(), this.#parts.onError);
  }

  /** Reads the rooms of the user of an inbox again: at once or, after an error, with the next comparison. */
  refresh({ request: { userId } }: Inbox, error?: unknown): void {
    const user = this.#users.get(userId);
    if (error === undefined) return user && void user.reading.request();
    this.#parts.onError(error);
    if (user) user.version = unknown;
  }

  #create(userId: string, version: number): Entry {
    const leaveBus = this.#parts.bus.subscribe(userTopic(userId), (message) => this.#receive(userId, message));
    const reading = new CoalescedWork(() => this.#readRooms(user));
    const user: Entry = { userId, inboxes: new Set(), version, leaveBus, reading };
    this.#users.set(userId, user);
    this.#comparison.check();
    return user;
  }

  #receive(userId: string, message: BusMessage): void {
    const user = this.#users.get(userId);
    if (!user) return;
    if (message.type !== 'roomRead') return void user.reading.request();
    for (const inbox of user.inboxes) inbox.markRead(message.roomId);
  }

  async #compare(): Promise<void> {
    for (const users of chunksOf([...this.#users.values()], maxCompared)) {
      const versions = users.map(({ userId, version }) => [userId, version] as const);
      const moved = await findMovedVersions(this.#parts.database.checks, versions).catch(this.#parts.onError);
      for (const userId of moved ?? []) {
        void this.#users.get(userId)?.reading.request();
      }
    }
  }

  async #readRooms(user: Entry): Promise<void> {
    try {
      const startedAt = performance.now();
      const { rooms, version } = await findInboxRooms(this.#parts.database.db, user.userId, maxInboxRooms);
      user.version = version;
      for (const inbox of [...user.inboxes]) {
        if (!inbox.update(rooms, startedAt)) void user.reading.request();
      }
    } catch (error) {
      this.#parts.onError(error);
      user.version = unknown;
    }
  }
}
