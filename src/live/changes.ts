import type { Database, Db, TransactionOptions } from '../data/database.ts';
import { appendEvent, type NewRoomEvent, type RoomEvent } from '../data/events.ts';
import type { Bus, BusMessage } from './bus/bus.ts';

/** What a change may say of itself, inside its transaction. */
export interface ChangeRecord {
  /** Writes an event into the log and, behind the commit, tells the room. */
  append: (event: NewRoomEvent) => Promise<void>;
  /** Tells something else behind the commit. */
  announce: (message: BusMessage) => void;
  /** Does something behind the commit, and not at all where it fails. */
  behind: (effect: () => void) => void;
}

/** The result of a change, with the events it wrote. */
export interface Change<T> {
  result: T;
  events: readonly RoomEvent[];
}

/** One durable transaction; what it recorded is published behind the commit, and not at all where it fails. */
export async function commitChange<T>(
  database: Database,
  bus: Bus,
  work: (db: Db, record: ChangeRecord) => Promise<T>,
  options?: TransactionOptions,
): Promise<Change<T>> {
  const messages: BusMessage[] = [];
  const events: RoomEvent[] = [];
  const effects: (() => void)[] = [];
  const result = await database.transaction(
    (db) =>
      work(db, {
        async append(event) {
          const appended = await appendEvent(db, event);
          events.push(appended);
          messages.push({ type: 'roomChanged', roomId: event.roomId, event: appended });
        },
        announce: (message) => messages.push(message),
        behind: (effect) => effects.push(effect),
      }),
    options,
  );
  if (messages.some(erasesContent)) messages.push({ type: 'contentErased' });
  for (const message of messages) bus.publish(message);
  for (const effect of effects) effect();
  return { result, events };
}

function erasesContent(message: BusMessage): boolean {
  return message.type === 'roomDeleted' || (message.type === 'roomChanged' && message.event.type === 'PostDeleted');
}
