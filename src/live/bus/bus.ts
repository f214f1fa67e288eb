import type { RoomEvent } from '../../data/events.ts';

/**
 * A message that a process publishes after a commit, to itself and to other processes. It has no private column of a
 * user, except the two that decide which sessions are revoked.
 */
export type BusMessage =
  | { type: 'roomChanged'; roomId: string; event: RoomEvent }
  | { type: 'roomDeleted'; roomId: string }
  | { type: 'userDeleted'; userId: string }
  | { type: 'keyRevoked'; keyId: string }
  /** All sessions of the user that began before `sessionsFrom` are revoked, except `keptSession`. */
  | { type: 'passwordChanged'; userId: string; sessionsFrom: number; keptSession: string | null }
  /** Posts were deleted; selections of events in any room may contain them. */
  | { type: 'contentErased' };

export type BusListener = (message: BusMessage) => void;

/**
 * Notifies listeners of commits. It may lose, repeat and reorder messages; the log is the source of truth, and
 * listeners check messages against its numbers.
 */
export interface Bus {
  /** Never throws and never waits, so that a mutation does not depend on the listeners. */
  publish(message: BusMessage): void;
  /** Resolves when the listener receives every later message. The result is a function that unsubscribes. */
  subscribe(topic: string, listener: BusListener): Promise<() => void>;
  /** The number of listeners. */
  listenerCount(): number;
  close(): Promise<void>;
}

/** The topic of messages that concern more than one room: accounts, credentials and deleted content. */
export const commonTopic = 'common';

export function roomTopic(roomId: string): string {
  return `room:${roomId}`;
}

export function topicOf(message: BusMessage): string {
  return 'roomId' in message ? roomTopic(message.roomId) : commonTopic;
}
