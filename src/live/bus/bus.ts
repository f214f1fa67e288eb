import { isObject } from '../../common/is-object.ts';
import { fields, integer, listOf, orNull, type Parsed, type Parser, text, variants } from '../../common/parsers.ts';
import type { EventContent, RoomEvent } from '../../data/event-log/events.ts';
import { parsePost, parsePublicUser, parseRoomEvent } from '../../data/tables.ts';
import { readTraceContext } from '../../tracing/tracing.ts';

/** The compiler requires every column: content without a new column, from an older node, is not used. */
const content = fields<EventContent>({ post: parsePost, author: parsePublicUser });

const event: Parser<RoomEvent> = (value) => {
  const row = parseRoomEvent(value);
  if (!row || !isObject(value)) return undefined;
  const { content: post, trace } = value;
  const context = readTraceContext(trace);
  return { ...row, content: content(post), ...(context && { trace: context }) };
};

const roomAndEvent = fields({ roomId: text, event });

/** A page of the presence of a room on one node. It replaces the earlier page with its index. */
const presencePage = fields({
  roomId: text,
  /** Different for each run of a node. */
  node: text,
  /** Increases with each page that the node reports. */
  number: integer,
  index: integer,
  /** The number of pages; those with a greater index are no longer valid. */
  pageCount: integer,
  /** The ids of the present users. */
  users: listOf(text),
  /** Of the whole node, on page 0: the ids of the first users by name. */
  first: listOf(text),
  /** Likewise: the number of anonymous viewers. */
  anonymous: integer,
  /** Likewise: the ids of users that are typing. */
  typing: listOf(text),
  /** How long what the node has reported is valid, from now on. */
  leaseMs: integer,
});
export type PresencePage = Parsed<typeof presencePage>;

/**
 * The messages by which nodes join their parts of the inventory and of the presence, which the database does not contain.
 * They contain no credentials.
 */
const nodeMessages = {
  /** `question` is JSON. */
  nodesAsked: fields({ asker: text, ask: integer, question: text }),
  /** A part of the answer of the node `from`; `content` is a part of its JSON, in Base64. */
  nodeAnswered: fields({ asker: text, ask: integer, from: text, part: integer, parts: integer, content: text }),
  presencePageReported: presencePage,
  /** The user has stopped typing, through whichever node. */
  typingStopped: fields({ roomId: text, userId: text }),
};

/**
 * Wake-ups: messages may have been lost, or could not be read. Listeners compare what they know with the database. A
 * bus delivers them; no change publishes them.
 */
const wakeUps = {
  roomMayHaveChanged: fields({ roomId: text }),
  anythingMayHaveChanged: fields({}),
};

/** Reads a message; undefined if its type is unknown, or a field is missing. */
export const parseBusMessage = variants('type', {
  roomChanged: (value: unknown) => {
    const read = roomAndEvent(value);
    return read?.event.roomId === read?.roomId ? read : undefined;
  },
  roomDeleted: fields({ roomId: text, actorId: orNull(text) }),
  userDeleted: fields({ userId: text }),
  keyRevoked: fields({ keyId: text }),
  /** The user's sessions of generations before `sessionsFrom` are revoked. */
  passwordChanged: fields({ userId: text, sessionsFrom: integer }),
  /** The user has joined or left rooms. */
  membershipsChanged: fields({ userId: text }),
  /** The user has read the room up to a time of its events. */
  roomRead: fields({ userId: text, roomId: text, readUpTo: integer }),
  /** The user is muted in the room. */
  userMuted: fields({ roomId: text, userId: text }),
  /** Posts were deleted; selections of events in any room may contain them. */
  contentErased: fields({}),
  ...nodeMessages,
  ...wakeUps,
});

/**
 * A message that a process publishes after a commit, to itself and to other processes. It has no private column of a
 * user, except that which decides which sessions are revoked.
 */
export type BusMessage = Parsed<typeof parseBusMessage>;
export type BusMessageOf<Type extends BusMessage['type']> = Extract<BusMessage, { type: Type }>;
export type NodeMessage = BusMessageOf<keyof typeof nodeMessages>;
export type WakeUp = BusMessageOf<keyof typeof wakeUps>;

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

/** The messages of a bus since the start of the process. */
export class BusCounts {
  /** Published by this process. */
  published = 0;
  /** Received from other processes. */
  received = 0;
  /** Received wake-ups, which stand for messages that were lost or could not be read. */
  wakeUps = 0;
  /** Published messages that did not reach the server of the bus. */
  lost = 0;
}

/** `local`: between the processes of one machine that have the same parent. */
export type BusKind = 'memory' | 'local' | 'postgres' | 'redis';

/** Whether there may be other nodes. A bus within one process has none. */
export function hasOtherNodes({ kind }: Pick<Bus, 'kind'>): boolean {
  return kind !== 'memory';
}

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
  return Object.hasOwn(wakeUps, type);
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
  if (message.type === 'presencePageReported' || message.type === 'typingStopped') return presenceTopic(message.roomId);
  if (message.type === 'nodesAsked' || message.type === 'nodeAnswered') return nodesTopic;
  if (message.type === 'roomRead' || message.type === 'membershipsChanged') return userTopic(message.userId);
  return 'roomId' in message ? roomTopic(message.roomId) : commonTopic;
}
