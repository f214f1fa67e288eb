import { chunksOf } from '../../common/chunks.ts';
import type { Database } from '../../data/database/database.ts';
import { findMovedHeads } from '../../data/event-log/moved-heads.ts';
import { type Bus, type BusMessage, userTopic } from '../bus/bus.ts';
import { Comparison } from '../comparison.ts';
import type { Inbox } from './inbox.ts';

export interface UserLogsParts {
  database: Database;
  bus: Bus;
  onError: (error: unknown) => void;
}

/** The maximum number of inboxes in one query: with SQLite it blocks the event loop. */
const maxCompared = 2_000;

/**
 * Wakes the inboxes whose users' logs have new events. The bus announces them, and a periodic query compares the positions of
 * all inboxes, because its messages may be lost.
 */
export class UserLogs {
  readonly #parts: UserLogsParts;
  /** By user, with the function that unsubscribes from the bus. */
  readonly #users = new Map<string, { inboxes: Set<Inbox>; leaveBus: Promise<() => void> }>();
  readonly #comparison: Comparison;

  constructor(parts: UserLogsParts) {
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

  /** Resolves when the inbox will learn of every later event. */
  async add(inbox: Inbox): Promise<void> {
    const { userId } = inbox.request;
    const user = this.#users.get(userId) ?? this.#create(userId);
    user.inboxes.add(inbox);
    await user.leaveBus;
  }

  delete(inbox: Inbox): void {
    const { userId } = inbox.request;
    const user = this.#users.get(userId);
    if (!user?.inboxes.delete(inbox) || user.inboxes.size > 0) return;
    this.#users.delete(userId);
    this.#comparison.update();
    user.leaveBus.then((leave) => leave(), this.#parts.onError);
  }

  #create(userId: string) {
    const inboxes = new Set<Inbox>();
    const wake = ({ type }: BusMessage) => {
      for (const inbox of inboxes) {
        // A user may read many rooms, which ends no membership.
        if (type !== 'roomRead') inbox.findEndings();
        inbox.wake();
      }
    };
    const user = { inboxes, leaveBus: this.#parts.bus.subscribe(userTopic(userId), wake) };
    this.#users.set(userId, user);
    this.#comparison.update();
    return user;
  }

  async #compare(): Promise<void> {
    const all = this.#users.values().flatMap(({ inboxes }) => inboxes);
    for (const inboxes of chunksOf([...all], maxCompared)) {
      const positions = inboxes.map(({ request, position }) => [request.userId, position] as const);
      const moved = await findMovedHeads(this.#parts.database.checks, 'users', positions).catch(this.#parts.onError);
      for (const inbox of inboxes) {
        if (!moved?.has(inbox.request.userId)) continue;
        inbox.findEndings();
        inbox.wake();
      }
    }
  }
}
