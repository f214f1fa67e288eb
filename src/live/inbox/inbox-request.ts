import type { InboxRooms } from '../../data/inbox-rooms.ts';
import { ClientError } from '../../errors.ts';
import type { Selection } from '../subscribe-request.ts';

/** The maximum number of rooms of an inbox. */
export const maxInboxRooms = 1_000;

/** The memory that is counted for a room of an inbox, in bytes; measured by `npm run bench -- inbox`. */
export const inboxRoomBytes = 300;

export interface InboxRequest extends Selection {
  userId: string;
  /** The rooms at the time of the request. */
  rooms: InboxRooms;
  /** When the rooms had been read, by performance.now(). */
  readAt: number;
  /** The cursors to resume after; undefined: only new events. */
  after: readonly string[] | undefined;
  /** The memory of the client. `addOrThrow` throws ClientError SUBSCRIPTION_LIMIT_EXCEEDED. */
  memory: { add(bytes: number): void; addOrThrow(bytes: number): void };
}

export function tooManyRooms(): ClientError {
  const message = `An inbox covers up to ${maxInboxRooms} rooms: leave some rooms, or subscribe to single rooms.`;
  return new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED', message);
}
