import {
  type CompleteMessage,
  type ConnectionInitMessage,
  MessageType,
  type PingMessage,
  type PongMessage,
  type SubscribeMessage,
  validateMessage,
} from 'graphql-ws';
import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';
import { parseClientJson } from '../json.ts';

export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

const serverMessages = [MessageType.ConnectionAck, MessageType.Next, MessageType.Error];

/**
 * In characters. Messages other than `subscribe` and `connection_init` are short; the payload of a `ping` is sent back.
 */
const maxPingLength = 16_384;
/** In characters: the id and the cursor of a room. */
export const lengthPerRoom = 130;
/** Clients send the payload of a `ping` back, also the cursors of an inbox. */
const maxPongLength = maxPingLength + lengthPerRoom * maxInboxRooms;

/** Describes what is wrong with the length of a message; undefined if the length is allowed. */
export function findLengthFault({ type }: ClientMessage, length: number): string | undefined {
  const maxLength = { [MessageType.Ping as string]: maxPingLength, [MessageType.Pong]: maxPongLength }[type];
  if (maxLength === undefined || length <= maxLength) return undefined;
  return `A ${type} must have at most ${maxLength} characters`;
}

/** Parses a message. @throws an error if it is malformed, or of a type that clients may not send. */
export function readClientMessage(text: string): ClientMessage {
  const message = validateMessage(parseClientJson(text));
  if (message.type === MessageType.Subscribe) return toSubscribeMessage(message as SubscribeMessage);
  if (!serverMessages.includes(message.type)) return message as ClientMessage;
  throw new Error(`Clients may not send a message of the type ${message.type}.`);
}

/** Copies only the fields that are read: graphql-ws keeps a reference to the payload until the operation is over. */
function toSubscribeMessage({ id, type, payload }: SubscribeMessage): SubscribeMessage {
  const { query, documentId, operationName, variables, extensions } = payload as object as Record<string, unknown>;
  const request = { query, documentId, operationName, variables, extensions };
  return { id, type, payload: request as SubscribeMessage['payload'] };
}

/** Frees a payload after its request has been read: 100 subscriptions of 30 kB would otherwise hold 3 MB uncounted. */
export function clearPayload(payload: object): void {
  for (const field of Object.keys(payload)) Reflect.set(payload, field, undefined);
}
