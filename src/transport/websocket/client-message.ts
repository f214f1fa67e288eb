import {
  type CompleteMessage,
  type ConnectionInitMessage,
  MessageType,
  type PingMessage,
  type PongMessage,
  parseMessage,
  type SubscribeMessage,
  stringifyMessage,
} from 'graphql-ws';

export type ClientMessage = ConnectionInitMessage | PingMessage | PongMessage | SubscribeMessage | CompleteMessage;

const clientMessages = new Set<MessageType>([
  MessageType.ConnectionInit,
  MessageType.Ping,
  MessageType.Pong,
  MessageType.Subscribe,
  MessageType.Complete,
]);

/** A message of any other type than `subscribe` and `connection_init` says little; the payload of a `ping` is sent back. */
const maxPingLength = 16_384;

/** What is wrong with the length of a message, or undefined. */
export function findLengthFault({ type }: ClientMessage, length: number): string | undefined {
  const isBounded = type === MessageType.Ping || type === MessageType.Pong;
  return isBounded && length > maxPingLength ? `A ${type} has at most ${maxPingLength} characters` : undefined;
}

/** Undefined for what no client may send. */
export function readClientMessage(data: string): ClientMessage | undefined {
  try {
    const message = parseMessage(data);
    // A payload that nests deeper than the stack could be parsed, but not sent back.
    if (message.type === MessageType.Ping) stringifyMessage(message);
    if (message.type === MessageType.Subscribe) return toSubscribeMessage(message as SubscribeMessage);
    return clientMessages.has(message.type) ? (message as ClientMessage) : undefined;
  } catch {
    return undefined;
  }
}

/** What a `subscribe` message asks for. graphql-ws holds on to it for as long as the operation lasts. */
export interface SubscribePayload {
  query: unknown;
  documentId: unknown;
  operationName: unknown;
  variables: unknown;
  extensions: unknown;
}

/** Only with the fields that are read: any other would be kept as long as the operation. */
function toSubscribeMessage({ id, type, payload }: SubscribeMessage): SubscribeMessage {
  const { query, documentId, operationName, variables, extensions } = payload as Partial<SubscribePayload>;
  const request: SubscribePayload = { query, documentId, operationName, variables, extensions };
  return { id, type, payload: request as SubscribeMessage['payload'] };
}

/** The request has been read: what it said is no longer kept. */
export function clearPayload(payload: object): void {
  const cleared: Partial<SubscribePayload> = payload;
  cleared.query = undefined;
  cleared.documentId = undefined;
  cleared.operationName = undefined;
  cleared.variables = undefined;
  cleared.extensions = undefined;
}
