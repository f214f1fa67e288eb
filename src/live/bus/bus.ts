import type { RoomEvent } from '../../data/events.ts';
import type { BusCounts } from './bus-counts.ts';

/**
 * A message that a process publishes after a commit, to itself and to other processes. It has no private column of a
 * user, except that which decides which sessions are revoked.
 */
export type BusMessage =
  | { type: 'roomChanged'; roomId: string; event: RoomEvent }
  | { type: 'roomDeleted'; roomId: string; actorId: string | null }
  | { type: 'userDeleted'; userId: string }
  | { type: 'keyRevoked'; keyId: string }
  /** The user's sessions of generations before `sessionsFrom` are revoked. */
  | { type: 'passwordChanged'; userId: string; sessionsFrom: number }
  /** The user has joined or left rooms. */
  | { type: 'membershipsChanged'; userId: string }
  /** The user has read the room up to a time of its events. */
  | { type: 'roomRead'; userId: string; roomId: string; readUpTo: number }
  /** Posts were deleted; selections of events in any room may contain them. */
  | { type: 'contentErased' }
  | NodeMessage
  | WakeUp;

/** A message by which nodes join their parts of the inventory and of the presence. It contains no credentials. */
export type NodeMessage =
  /** `question` is JSON. */
  | { type: 'nodesAsked'; asker: string; ask: number; question: string }
  /** A part of the answer of the node `from`; `content` is a part of its JSON, in Base64. */
  | { type: 'nodeAnswered'; asker: string; ask: number; from: string; part: number; parts: number; content: string }
  | ({ type: 'presenceReported' } & PresenceReport)
  /** The user has stopped typing, through whichever node. */
  | { type: 'typingStopped'; roomId: string; userId: string };

/**
 * What has changed in the presence of a room on one node. Its reports are numbered, and each names the one before, so
 * that a receiver that missed one finds out. A whole report follows no other. Long reports are sent in parts.
 */
export interface PresenceReport {
  roomId: string;
  /** Different for each run of a node. */
  node: string;
  /** Increases with each report of the node. */
  number: number;
  /** The number of the report before; null if this is the first part of a whole report. */
  previous: number | null;
  /** Whether no further part follows. The properties after `left` are those of the last part. */
  isLast: boolean;
  /** The ids of users who are present now, and of users who are absent now. */
  joined: string[];
  left: string[];
  /** The ids of the first users by name. */
  first: readonly string[];
  /** The number of anonymous viewers. */
  anonymous: number;
  /** `leftMs`: the time for which the user is shown, from now on. */
  typing: { id: string; leftMs: number }[];
  /** How long the report is valid. */
  leaseMs: number;
}

/**
 * A wake-up: messages may have been lost, or could not be read. Listeners compare what they know with the database. A
 * bus delivers it; no change publishes it.
 */
export type WakeUp = { type: 'roomMayHaveChanged'; roomId: string } | { type: 'anythingMayHaveChanged' };

export type BusListener = (message: BusMessage) => void;

/**
 * Notifies listeners of commits. It may lose, repeat and reorder messages; the log is the source of truth, and
 * listeners check messages against its numbers.
 */
export interface Bus {
  /**
   * Delivers the message to the listeners of this process at once, and to those of other processes later. Never throws
   * and never waits, so that a mutation depends neither on the listeners nor on a server.
   */
  publish(message: BusMessage): void;
  /**
   * Resolves when the listener receives every later message or, while the bus is down, at once. The result is a function
   * that unsubscribes.
   */
  subscribe(topic: string, listener: BusListener): Promise<() => void>;
  readonly counts: BusCounts;
  readonly kind: BusKind;
  /** The number of messages that wait to be sent. */
  waitingCount(): number;
  /** Whether so many messages of nodes wait to be sent that further reports should not be published yet. */
  hasBacklog(): boolean;
  /** The number of listeners. */
  listenerCount(): number;
  /** Whether the messages of other processes arrive, as far as is known. */
  isUp(): boolean;
  /** Calls the listener after each change of `isUp`. */
  onStateChange(listener: () => void): void;
  /** Sends the last messages, for half a second at most. */
  close(): Promise<void>;
}

export type BusKind = 'memory' | 'postgres' | 'redis';

export interface BusOptions {
  /** Called with the error of a listener. The other listeners still get the message. */
  onError: (error: unknown) => void;
  /** Called when the bus is found down, with the reason, for the operator. */
  onDown?: (reason: string) => void;
  /** Called when it is up again. */
  onUp?: () => void;
}

/** The server of a bus does not answer. The message is for the operator. */
export class BusUnreachable extends Error {}

/**
 * The topic of messages for one user. Older programs take them for wake-ups of a room that nobody follows, so that they
 * ignore them.
 */
export function userTopic(userId: string): string {
  return roomTopic(userId);
}

/** The topic of messages that concern more than one room: accounts, credentials and deleted content. */
export const commonTopic = 'common';
const roomPrefix = 'room:';

export function roomTopic(roomId: string): string {
  return roomPrefix + roomId;
}

/** The wake-up for the listeners of a topic. */
export function wakeUpOf(topic: string): WakeUp {
  if (!topic.startsWith(roomPrefix)) return { type: 'anythingMayHaveChanged' };
  return { type: 'roomMayHaveChanged', roomId: topic.slice(roomPrefix.length) };
}

export function isWakeUp({ type }: BusMessage): boolean {
  return type === 'roomMayHaveChanged' || type === 'anythingMayHaveChanged';
}

/**
 * The topic of the questions and answers of nodes. Older programs take them for wake-ups of a room that nobody
 * follows, so that they ignore them.
 */
export const nodesTopic = `${roomPrefix}nodes`;

const presencePrefix = `${roomPrefix}presence:`;

/** The topic of the presence in a room. Older programs ignore it, as they do `nodesTopic`. */
export function presenceTopic(roomId: string): string {
  return presencePrefix + roomId;
}

/** Whether the messages of the topic are about the inventory or the presence, which the database does not contain. */
export function carriesNodeMessages(topic: string): boolean {
  return topic === nodesTopic || topic.startsWith(presencePrefix);
}

export function topicOf(message: BusMessage): string {
  if (message.type === 'presenceReported' || message.type === 'typingStopped') return presenceTopic(message.roomId);
  if (message.type === 'nodesAsked' || message.type === 'nodeAnswered') return nodesTopic;
  if (message.type === 'roomRead' || message.type === 'membershipsChanged') return userTopic(message.userId);
  return 'roomId' in message ? roomTopic(message.roomId) : commonTopic;
}
