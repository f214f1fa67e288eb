import type { Database, Db, TransactionOptions } from '../data/database/database.ts';
import {
  appendEvent,
  type NewPlainEvent,
  type NewPostEvent,
  type NewRoomEvent,
  type RoomEvent,
} from '../data/event-log/events.ts';
import { traitsOf } from '../data/event-log/room-event-types.ts';
import type { PostRow } from '../data/tables.ts';
import type { Bus, BusMessage } from '../live/bus/bus.ts';
import { startPublishing } from '../live/event-spans.ts';
import type { Span } from '../tracing/tracing.ts';

/** What a change can record inside its transaction. */
export interface ChangeRecord {
  /**
   * Writes an event into the log together with its change, and publishes it to the room after the commit. The result is
   * the stored row. Like that of `write`, it should not be awaited inside the transaction: the room is locked.
   */
  append: {
    (event: NewPostEvent): Promise<PostRow>;
    <Row>(event: NewPlainEvent<Row>): Promise<Row>;
  };
  /**
   * Takes a statement that has been started and is not awaited inside the transaction: it is sent together with the
   * commit. If it fails, the transaction fails.
   */
  write: <Row>(statement: Promise<Row>) => Promise<Row>;
  /** Waits for all that was appended and written so far. */
  settle: () => Promise<unknown>;
  /** Publishes another message after the commit. */
  announce: (message: BusMessage) => void;
  /** Runs an effect after the commit; it does not run if the transaction fails. */
  afterCommit: (effect: () => void) => void;
}

/**
 * Runs one durable transaction. Its messages are published after the commit, and are dropped if the transaction fails.
 * Returns the result of the work, and the events that it wrote.
 */
export async function commitChange<T>(
  database: Database,
  bus: Bus,
  work: (db: Db, record: ChangeRecord) => Promise<T>,
  options?: TransactionOptions,
): Promise<{ result: T; events: readonly RoomEvent[] }> {
  const { result, recorded, effects } = await database.transaction(async (db) => {
    // New lists for each run, because the database may run the work again.
    const recorded: (BusMessage | Promise<BusMessage>)[] = [];
    const effects: (() => void)[] = [];
    const written: Promise<unknown>[] = [];
    const append = <Row>(newEvent: NewRoomEvent<Row>) => {
      const appending = appendEvent(db, newEvent);
      const message = appending.then(({ event }) => ({ type: 'roomChanged', roomId: event.roomId, event }) as const);
      recorded.push(handled(message));
      return handled(appending.then(({ stored }) => stored));
    };
    const result = await work(db, {
      append: append as ChangeRecord['append'],
      write: (statement) => {
        written.push(statement);
        return handled(statement);
      },
      settle: () => Promise.all([...recorded, ...written]),
      announce: (message) => recorded.push(message),
      afterCommit: (effect) => effects.push(effect),
    });
    return { result, recorded, effects };
  }, options);
  const messages = await Promise.all(recorded);
  if (messages.some(erasesContent)) messages.push({ type: 'contentErased' });
  messages.push(...messages.flatMap(changesOfMemberships));
  publish(bus, messages, options?.span);
  for (const effect of effects) effect();
  return { result, events: messages.flatMap((message) => (message.type === 'roomChanged' ? [message.event] : [])) };
}

/** Events carry the context of the span to the processes that deliver them. */
function publish(bus: Bus, messages: readonly BusMessage[], parent: Span | undefined): void {
  const span = parent && messages.length > 0 ? startPublishing(parent, messages.length) : undefined;
  for (const message of messages) {
    if (span && message.type === 'roomChanged') message.event.trace = span.context;
    bus.publish(message);
  }
  span?.end();
}

/** The failure of a statement is that of its transaction, so that nobody else has to handle it. */
function handled<T>(statement: Promise<T>): Promise<T> {
  statement.catch(() => {});
  return statement;
}

/** The members whose rooms have changed: their inboxes do not follow a room that they have just joined. */
function changesOfMemberships(message: BusMessage): BusMessage[] {
  if (message.type !== 'roomChanged') return [];
  const { type, subjectId: userId } = message.event;
  return traitsOf(type).changesMembership ? [{ type: 'membershipsChanged', userId }] : [];
}

function erasesContent(message: BusMessage): boolean {
  if (message.type === 'roomDeleted') return true;
  return message.type === 'roomChanged' && traitsOf(message.event.type).erasesContent;
}
