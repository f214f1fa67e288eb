import { CloseCode, type Message, MessageType, type SubscribeMessage, validateMessage } from 'graphql-ws';
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

/** Checks the messages of one client. Starts and ends its operations, and passes all other messages to graphql-ws. */
export class MessageReader {
  readonly #parts: TransportParts;
  readonly #connection: WebSocketConnection;
  readonly #listener: MessageListener;
  #isFirst = true;

  constructor(parts: TransportParts, connection: WebSocketConnection, listener: MessageListener) {
    this.#parts = parts;
    this.#connection = connection;
    this.#listener = listener;
  }

  read(text: string): void {
    if (!this.#connection.isOpen || this.#connection.isEnding) return;
    const maxInitLength =
      Math.max(minInitLength, lengthPerSeen * this.#parts.config.limits.subscriptions) + lengthOfInbox;
    if (this.#isFirst && text.length > maxInitLength) {
      return this.#refuse(`The first message must have at most ${maxInitLength} characters`);
    }
    this.#isFirst = false;
    // An operation may take long, and one turn may handle those of many sockets.
    flushAnswers();
    const message = this.#parse(text);
    if (!message) return;
    const fault = findLengthFault(message, text.length) ?? ('id' in message ? findIdFault(message.id) : undefined);
    if (fault) this.#refuse(fault);
    else if (message.type === MessageType.Subscribe) this.#subscribe(message, text.length);
    else if (message.type === MessageType.Complete) this.#connection.operations.get(message.id)?.leave();
    else this.#listener(message).catch(this.#connection.fail);
  }

  /** Undefined if the message is refused. */
  #parse(text: string): Message | undefined {
    try {
      const message = validateMessage(parseClientJson(text));
      if (!serverMessages.includes(message.type)) return message;
      this.#refuse('Invalid message received');
    } catch (error) {
      this.#refuse(error instanceof ClientError ? error.message : 'Invalid message received');
    }
    return undefined;
  }

  #subscribe(message: SubscribeMessage, length: number): void {
    const connection = this.#connection;
    if (!connection.context?.acknowledged) return connection.end(CloseCode.Unauthorized, 'Unauthorized');
    if (connection.operations.has(message.id)) {
      return connection.end(CloseCode.SubscriberAlreadyExists, `Subscriber for ${message.id} already exists`);
    }
    new SocketOperation(this.#parts, connection, message, length);
  }

  #refuse(reason: string): void {
    this.#connection.end(CloseCode.BadRequest, reason);
  }
}

/** Describes what is wrong with the length of a message; undefined if the length is allowed. */
function findLengthFault({ type }: Message, length: number): string | undefined {
  const maxLength = { [MessageType.Ping as string]: maxPingLength, [MessageType.Pong]: maxPongLength }[type];
  if (maxLength === undefined || length <= maxLength) return undefined;
  return `A ${type} must have at most ${maxLength} characters`;
}
