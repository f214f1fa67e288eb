import { CloseCode, MessageType, type SubscribeMessage } from 'graphql-ws';
import type { Config } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';
import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';
import { flushAnswers } from '../batched-writes.ts';
import { type ClientMessage, findLengthFault, lengthPerRoom, readClientMessage } from './client-message.ts';
import type { WebSocketConnection } from './connection.ts';
import { ReusedIds } from './operation/reused-ids.ts';
import { findIdFault } from './seen.ts';

/** To parse as many characters takes as long, and counts as much, as a message. */
const lengthPerMessage = 16_384;
/** In characters. The first message is `connection_init`: it has credentials, and the cursors of each subscription. */
const minInitLength = 65_536;
const lengthPerSeen = 500;
const lengthOfInbox = lengthPerRoom * maxInboxRooms;

/** The listener of graphql-ws, which accepts a parsed message as well as a text. */
export type MessageListener = (message: ClientMessage) => Promise<void>;

/** As how many messages a text counts. */
export function countOf({ length }: { length: number }): number {
  return Math.max(1, Math.ceil(length / lengthPerMessage));
}

/** Checks the messages of one client, and passes them to graphql-ws. */
export class MessageReader {
  readonly #connection: WebSocketConnection;
  readonly #listener: MessageListener;
  readonly #maxInitLength: number;
  readonly #order = new ReusedIds();
  #isFirst = true;

  constructor(connection: WebSocketConnection, listener: MessageListener, { subscriptions }: Config['limits']) {
    this.#connection = connection;
    this.#listener = listener;
    this.#maxInitLength = Math.max(minInitLength, lengthPerSeen * subscriptions) + lengthOfInbox;
  }

  read(text: string): void {
    if (!this.#connection.isOpen || this.#connection.isEnding) return;
    if (this.#isFirst && text.length > this.#maxInitLength) {
      return this.#refuse(`The first message must have at most ${this.#maxInitLength} characters`);
    }
    this.#isFirst = false;
    // An operation may take long, and one turn may handle those of many sockets.
    flushAnswers();
    this.#dispatch(text)?.catch(this.#connection.fail);
  }

  #dispatch(text: string): Promise<void> | undefined {
    const message = this.#parse(text);
    if (!message) return undefined;
    const fault = findLengthFault(message, text.length) ?? ('id' in message ? findIdFault(message.id) : undefined);
    if (fault) return void this.#refuse(fault);
    // Clients may add an `id` to other messages: it has no meaning there.
    if (message.type === MessageType.Subscribe) {
      const { id } = message;
      this.#connection.holdMessage(id, text.length);
      return this.#order.subscribe(id, () => begin(this.#connection, this.#listener, message));
    }
    if (message.type !== MessageType.Complete) return this.#listener(message);
    const { id } = message;
    return this.#order.complete(id, () => {
      this.#connection.operations.get(id)?.cancel();
      return this.#listener(message);
    });
  }

  /** Undefined if the message is refused. */
  #parse(text: string): ClientMessage | undefined {
    try {
      return readClientMessage(text);
    } catch (error) {
      this.#refuse(error instanceof ClientError ? error.message : 'Invalid message received');
      return undefined;
    }
  }

  #refuse(reason: string): void {
    this.#connection.end(CloseCode.BadRequest, reason);
  }
}

/** The callback lives until the operation is over, so it closes over the id only and not over the message. */
function begin(connection: WebSocketConnection, listener: MessageListener, message: SubscribeMessage): Promise<void> {
  const { id } = message;
  return listener(message).finally(() => connection.removeOperation(id));
}
