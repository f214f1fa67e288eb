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
import { parseJson } from '../json.ts';

export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

const clientMessages = new Set<MessageType>([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

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
  const message = validateMessage(parseJson(text));
  if (message.type === MessageType.Subscribe) return toSubscribeMessage(message as SubscribeMessage);
  if (clientMessages.has(message.type)) return message as ClientMessage;
  throw new Error(`Clients may not send a message of the type ${message.type}.`);
}

/** The payload of a `subscribe` message. graphql-ws keeps a reference to it until the operation is over. */
interface SubscribePayload {
  query: unknown;
  documentId: unknown;
  operationName: unknown;
  variables: unknown;
  extensions: unknown;
}

/** Copies only the fields that are read: all other fields would be kept until the operation is over. */
function toSubscribeMessage({ id, type, payload }: SubscribeMessage): SubscribeMessage {
  const { query, documentId, operationName, variables, extensions } = payload as Partial<SubscribePayload>;
  const request: SubscribePayload = { query, documentId, operationName, variables, extensions };
  return { id, type, payload: request as SubscribeMessage['payload'] };
}

const noPayload: SubscribePayload = {
  query: undefined,
  documentId: undefined,
  operationName: undefined,
  variables: undefined,
  extensions: undefined,
};

/** Frees a payload after its request has been read: 100 subscriptions of 30 kB would otherwise hold 3 MB uncounted. */
export function clearPayload(payload: object): void {
  Object.assign(payload, noPayload);
}
