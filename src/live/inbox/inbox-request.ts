import type { InboxRooms } from '../../data/domain/inbox-rooms.ts';
import { ClientError } from '../../errors.ts';
import type { Selection } from '../stream.ts';

/** The maximum number of rooms of an inbox. */
export const maxInboxRooms = 1_000;

/** The memory that is counted for a room of an inbox, in bytes; measured by `npm run bench -- inbox`. */
export const inboxRoomBytes = 300;

/** What an inbox needs as long as it is open. */
export interface InboxSelection extends Selection {
  userId: string;
  /** Whether it resumes after cursors. */
  isResumed: boolean;
  /**
   * The memory of the client, and the number of rooms of all its inboxes. `addOrThrow` throws ClientError
   * SUBSCRIPTION_LIMIT_EXCEEDED.
   */
  account: { add(bytes: number): void; addOrThrow(bytes: number): void; inboxRooms: number };
}

/** What is needed to open an inbox. */
export interface InboxRequest {
  selection: InboxSelection;
  /** The rooms at the time of the request. */
  rooms: InboxRooms;
  /** The cursors to resume after; undefined: only new events. */
  after: readonly string[] | undefined;
  /** @throws the reason if the client has left. */
  throwIfCancelled: () => void;
}

export function tooManyRooms(): ClientError {
  const message = `All inboxes of one connection cover up to ${maxInboxRooms} rooms: leave some rooms, or subscribe to single rooms.`;
  return new ClientError('SUBSCRIPTION_LIMIT_EXCEEDED', message);
}
