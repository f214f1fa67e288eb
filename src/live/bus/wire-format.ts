import { isObject } from '../../common/is-object.ts';
import { parseJson } from '../../common/parsers.ts';
import { type BusMessage, parseBusMessage, topicOf, wakeUpOf } from './bus.ts';

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

/**
 * Encodes a message. An event whose text would be longer than `maxBytes` is sent without its content, which the receiver
 * then reads from the database; any other message that is too long, as a wake-up.
 */
export function encode(from: string, message: BusMessage, maxBytes: number): EncodedMessage {
  const encoded = toEncodedMessage(topicOf(message), { from, message });
  if (encoded.bytes <= maxBytes) return encoded;
  if (message.type !== 'roomChanged' || !message.event.content)
    return toEncodedMessage(encoded.topic, { from, message: wakeUpOf(encoded.topic) });
  const { content: _, ...event } = message.event;
  return encode(from, { ...message, event }, maxBytes);
}

export function encodePing(from: string, topic: string): EncodedMessage {
  return { ...toEncodedMessage(pingTopic, { from }), topic };
}

/** `from` is the bus that sent it, undefined if the text does not say; `message` is undefined for a ping. */
export function decode(json: string) {
  const sent = parseJson(json);
  const { v, from, topic, message } = isObject(sent) ? sent : {};
  const sender = typeof from === 'string' ? from : undefined;
  if (topic === pingTopic) return { from: sender, message: undefined };
  const read = v === version ? parseBusMessage(message) : undefined;
  const isValid = read !== undefined && topicOf(read) === topic;
  return { from: sender, message: isValid ? read : wakeUpOf(String(topic)) };
}

/** Text of any kind stays valid: JSON escapes line breaks, NUL and halves of surrogate pairs. */
function toEncodedMessage(topic: string, rest: { from: string; message?: BusMessage }): EncodedMessage {
  const text = JSON.stringify({ v: version, topic, ...rest });
  return { topic, text, bytes: Buffer.byteLength(text) };
}
