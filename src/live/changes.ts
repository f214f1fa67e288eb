import type { Database, Db, TransactionOptions } from '../data/database.ts';
import { appendEvent, type NewRoomEvent, type RoomEvent } from '../data/events.ts';
import { roomEventTypes } from '../data/room-event-types.ts';
import type { Bus, BusMessage } from './bus/bus.ts';

/** What a change can record inside its transaction. */
export interface ChangeRecord {
  /** Writes an event into the log, and publishes it to the room after the commit. */
  append: (event: NewRoomEvent) => Promise<void>;
  /** Publishes another message after the commit. */
  announce: (message: BusMessage) => void;
  /** Runs an effect after the commit; it does not run if the transaction fails. */
  afterCommit: (effect: () => void) => void;
}

/** The result of a change, with the events it wrote. */
export interface Change<T> {
  result: T;
  events: readonly RoomEvent[];
}

/**
 * Runs one durable transaction. Its messages are published after the commit, and are dropped if the transaction fails.
 */
export async function commitChange<T>(
  database: Database,
  bus: Bus,
  work: (db: Db, record: ChangeRecord) => Promise<T>,
  options?: TransactionOptions,
): Promise<Change<T>> {
  const { result, messages, events, effects } = await database.transaction(async (db) => {
    // New lists for each run, because the database may run the work again.
    const messages: BusMessage[] = [];
    const events: RoomEvent[] = [];
    const effects: (() => void)[] = [];
    const result = await work(db, {
      async append(event) {
        const appended = await appendEvent(db, event);
        events.push(appended);
        messages.push({ type: 'roomChanged', roomId: event.roomId, event: appended });
      },
      announce: (message) => messages.push(message),
      afterCommit: (effect) => effects.push(effect),
    });
    return { result, messages, events, effects };
  }, options);
  if (messages.some(erasesContent)) messages.push({ type: 'contentErased' });
  for (const message of messages) bus.publish(message);
  for (const effect of effects) effect();
  return { result, events };
}

function erasesContent(message: BusMessage): boolean {
  if (message.type === 'roomDeleted') return true;
  return message.type === 'roomChanged' && roomEventTypes[message.event.type].erasesContent;
}
