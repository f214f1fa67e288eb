import type { RoomEvent } from '../../data/events.ts';

/** What one process tells the others, and itself, behind a commit. */
export type BusMessage =
  | { type: 'roomChanged'; roomId: string; event: RoomEvent }
  | { type: 'roomDeleted'; roomId: string }
  | { type: 'userDeleted'; userId: string }
  | { type: 'keyRevoked'; keyId: string }
  /** The user's sessions that began before `sessionsFrom` have ended, but for one. */
  | { type: 'passwordChanged'; userId: string; sessionsFrom: number; keptSession: string | null }
  /** Posts are gone; selections of any room may have reached them. */
  | { type: 'contentErased' };

export type BusListener = (message: BusMessage) => void;

/**
 * A wake-up, not the truth: it may lose, repeat and reorder messages. The log holds what happened; whoever listens
 * heals by its numbers.
 */
export interface Bus {
  /** Never throws and never waits: a mutation does not depend on who listens. */
  publish(message: BusMessage): void;
  /** Resolves once the listener misses nothing more; to the function that ends it. */
  subscribe(topic: string, listener: BusListener): Promise<() => void>;
  /** How many listeners there are. */
  listenerCount(): number;
  close(): Promise<void>;
}

/** What concerns more than one room: accounts, credentials, content that is gone. */
export const commonTopic = 'common';

export function roomTopic(roomId: string): string {
  return `room:${roomId}`;
}

export function topicOf(message: BusMessage): string {
  return 'roomId' in message ? roomTopic(message.roomId) : commonTopic;
}
