import type { EventContent, RoomEvent } from '../../data/events.ts';
import { type RoomEventType, roomEventTypes } from '../../data/room-event-types.ts';
import type { PostRow, publicUserColumns, RoomEventRow, UserRow } from '../../data/tables.ts';
import { readTraceContext } from '../../tracing/trace-context.ts';
import { asRecord, fields, flag, integer, listOf, oneOf, orNull, type Parser, parseJson, text } from '../parsers.ts';
import { type BusMessage, type PresenceReport, topicOf, wakeUpOf } from './bus.ts';

/*
 * Messages between processes: JSON on one line. `v`, `from` and `topic` stay the same in all versions. A message of
 * another version, of an unknown type, or that does not have the expected fields is received as a wake-up of its topic,
 * so that nodes of different versions can share a bus.
 */

const version = 1;
/** The topic of the messages by which a bus checks that it receives what it sends. */
const pingTopic = 'ping';

/** A message as it is sent. The text contains no line break. */
export interface EncodedMessage {
  topic: string;
  text: string;
  bytes: number;
}

export interface Received {
  /** The bus that sent the message; undefined if the text does not say. */
  from: string | undefined;
  /** Undefined for a ping. */
  message: BusMessage | undefined;
}

/**
 * Encodes a message. An event whose text would be longer than `maxBytes` is sent without its content, which the receiver
 * then reads from the database; any other message that is too long, as a wake-up.
 */
export function encode(from: string, message: BusMessage, maxBytes: number): EncodedMessage {
  const encoded = toEncodedMessage(topicOf(message), { from, message });
  if (encoded.bytes <= maxBytes) return encoded;
  if (message.type !== 'roomChanged' || !message.event.content) return encodeWakeUp(from, message);
  const { content: _, ...event } = message.event;
  return encode(from, { ...message, event }, maxBytes);
}

export function encodePing(from: string, topic: string): EncodedMessage {
  return { ...toEncodedMessage(pingTopic, { from }), topic };
}

export function decode(json: string): Received {
  const { v, from, topic, message } = asRecord(parseJson(json)) ?? {};
  const sender = typeof from === 'string' ? from : undefined;
  if (topic === pingTopic) return { from: sender, message: undefined };
  const read = v === version ? readMessage(message) : undefined;
  const isValid = read !== undefined && topicOf(read) === topic;
  return { from: sender, message: isValid ? read : wakeUpOf(String(topic)) };
}

function encodeWakeUp(from: string, message: BusMessage): EncodedMessage {
  const topic = topicOf(message);
  return toEncodedMessage(topic, { from, message: wakeUpOf(topic) });
}

/** Text of any kind stays valid: JSON escapes line breaks, NUL and halves of surrogate pairs. */
function toEncodedMessage(topic: string, rest: { from: string; message?: BusMessage }): EncodedMessage {
  const text = JSON.stringify({ v: version, topic, ...rest });
  return { topic, text, bytes: Buffer.byteLength(text) };
}

const eventType: Parser<RoomEventType> = (value) =>
  typeof value === 'string' && Object.hasOwn(roomEventTypes, value) ? (value as RoomEventType) : undefined;

const versioned = { id: text, createdAt: integer, updatedAt: integer, version: integer };

/** The compiler requires every column: content without a new column, from an older node, is not used. */
const content = fields<EventContent>({
  post: fields<PostRow>({
    ...versioned,
    roomId: text,
    authorId: text,
    title: text,
    body: orNull(text),
    publishedAt: orNull(integer),
  }),
  author: fields<Pick<UserRow, (typeof publicUserColumns)[number]>>({
    ...versioned,
    name: text,
    role: oneOf('MEMBER', 'ADMIN'),
    deletedAt: orNull(integer),
  }),
});

const eventRow = fields<RoomEventRow>({
  roomId: text,
  seq: integer,
  mark: integer,
  previousMark: integer,
  type: eventType,
  subjectId: text,
  version: integer,
  actorId: orNull(text),
  at: integer,
});

function event(value: unknown): RoomEvent | undefined {
  const row = eventRow(value);
  if (!row) return undefined;
  const { content: post, trace } = asRecord(value) ?? {};
  const context = readTraceContext(trace);
  return { ...row, content: content(post), ...(context && { trace: context }) };
}

const roomAndEvent = fields<Fields<'roomChanged'>>({ roomId: text, event });

const presenceReport = fields<PresenceReport>({
  roomId: text,
  node: text,
  number: integer,
  previous: orNull(integer),
  isLast: flag,
  joined: listOf(text),
  left: listOf(text),
  first: listOf(text),
  anonymous: integer,
  typing: listOf(fields<PresenceReport['typing'][number]>({ id: text, leftMs: integer })),
  leaseMs: integer,
});

type Fields<Type extends BusMessage['type']> = Omit<Extract<BusMessage, { type: Type }>, 'type'>;

const messages: { [Type in BusMessage['type']]: Parser<Fields<Type>> } = {
  roomChanged: (value) => {
    const read = roomAndEvent(value);
    return read?.event.roomId === read?.roomId ? read : undefined;
  },
  roomDeleted: fields({ roomId: text, actorId: orNull(text) }),
  userDeleted: fields({ userId: text }),
  keyRevoked: fields({ keyId: text }),
  passwordChanged: fields({ userId: text, sessionsFrom: integer }),
  membershipsChanged: fields({ userId: text }),
  roomRead: fields({ userId: text, roomId: text, readUpTo: integer }),
  contentErased: fields({}),
  nodesAsked: fields({ asker: text, ask: integer, question: text }),
  nodeAnswered: fields({ asker: text, ask: integer, from: text, part: integer, parts: integer, content: text }),
  presenceReported: presenceReport,
  typingStopped: fields({ roomId: text, userId: text }),
  roomMayHaveChanged: fields({ roomId: text }),
  anythingMayHaveChanged: fields({}),
};

function readMessage(value: unknown): BusMessage | undefined {
  const type = text(asRecord(value)?.['type']);
  if (type === undefined || !Object.hasOwn(messages, type)) return undefined;
  const read = messages[type as BusMessage['type']](value);
  return read && ({ type, ...read } as BusMessage);
}
