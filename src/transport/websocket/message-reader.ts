import { CloseCode, type Message, MessageType, validateMessage } from 'graphql-ws';
import { ClientError } from '../../errors.ts';
import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';
import { flushAnswers } from '../batched-writes.ts';
import { parseClientJson } from '../client-json.ts';
import type { TransportParts } from '../transport.ts';
import type { WebSocketConnection } from './connection.ts';
import { SocketOperation } from './operation.ts';
import { findIdFault } from './seen.ts';

/** The listener of graphql-ws, which accepts a parsed message as well as a text. */
export type MessageListener = (message: Message) => Promise<void>;

const invalid = 'Invalid message received';
const serverMessages = [MessageType.ConnectionAck, MessageType.Next, MessageType.Error];

/** In characters: the id and the cursor of a room. */
const lengthPerRoom = 130;
const lengthOfInbox = lengthPerRoom * maxInboxRooms;
/** In characters. The first message is `connection_init`: it has credentials, and the cursors of each subscription. */
const minInitLength = 65_536;
const lengthPerSeen = 500;
/**
 * In characters. Messages other than `subscribe` and `connection_init` are short; the payload of a `ping` is sent back.
 */
const maxPingLength = 16_384;
/** Clients send the payload of a `ping` back, also the cursors of an inbox. */
const maxPongLength = maxPingLength + lengthPerRoom * maxInboxRooms;

/**
 * The result reads the messages of one client: checks them, starts and ends its operations, and passes all other messages to
 * graphql-ws.
 */
export function createMessageReader(parts: TransportParts, connection: WebSocketConnection, listener: MessageListener) {
  const maxInitLength = Math.max(minInitLength, lengthPerSeen * parts.config.limits.subscriptions) + lengthOfInbox;
  let isFirst = true;
  const handle = (message: Message, length: number) => {
    if (message.type === MessageType.Complete) return connection.operations.get(message.id)?.leave();
    if (message.type !== MessageType.Subscribe) return void listener(message).catch(connection.fail);
    const { id } = message;
    if (!connection.context?.acknowledged) return connection.end(CloseCode.Unauthorized, 'Unauthorized');
    if (!connection.operations.has(id)) return void new SocketOperation(parts, connection, message, length);
    connection.end(CloseCode.SubscriberAlreadyExists, `Subscriber for ${id} already exists`);
  };
  return (text: string): void => {
    if (!connection.isOpen || connection.isEnding) return;
    const isTooLong = isFirst && text.length > maxInitLength;
    isFirst = false;
    if (isTooLong) {
      const fault = `The first message must have at most ${maxInitLength} characters`;
      return connection.end(CloseCode.BadRequest, fault);
    }
    // An operation may take long, and one turn may handle those of many sockets.
    flushAnswers();
    const message = parse(text);
    if (typeof message === 'string') connection.end(CloseCode.BadRequest, message);
    else handle(message, text.length);
  };
}

/** Returns the message, or a text that describes what is wrong. */
function parse(text: string): Message | string {
  try {
    const message = validateMessage(parseClientJson(text));
    if (serverMessages.includes(message.type)) return invalid;
    const idFault = 'id' in message ? findIdFault(message.id) : undefined;
    return findLengthFault(message, text.length) ?? idFault ?? message;
  } catch (error) {
    return error instanceof ClientError ? error.message : invalid;
  }
}

/** Describes what is wrong with the length of a message; undefined if the length is allowed. */
function findLengthFault({ type }: Message, length: number): string | undefined {
  const maxLength = { [MessageType.Ping as string]: maxPingLength, [MessageType.Pong]: maxPongLength }[type];
  if (maxLength === undefined || length <= maxLength) return undefined;
  return `A ${type} must have at most ${maxLength} characters`;
}
