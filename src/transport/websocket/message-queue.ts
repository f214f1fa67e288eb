import { CloseCode, MessageType, type SubscribeMessage } from 'graphql-ws';
import type { Config } from '../../config.ts';
import { contain } from '../../contain.ts';
import { ClientError } from '../../errors.ts';
import { maxInboxRooms } from '../../live/inbox/inbox-request.ts';
import { PerTurnQueue } from '../admission/per-turn-queue.ts';
import { flushAnswers } from '../batched-writes.ts';
import { type ClientMessage, findLengthFault, lengthPerRoom, readClientMessage } from './client-message.ts';
import type { Connection } from './connection.ts';
import { OperationOrder } from './operation/operation-order.ts';
import { findIdFault } from './seen.ts';

/** A refused operation takes 0.1 to 0.2 ms. */
const messagesPerTurn = 16;
/** To parse as many characters takes as long, and counts as much, as a message. */
const lengthPerMessage = 16_384;
/** In characters. The first message is `connection_init`: it has credentials, and the cursors of each subscription. */
const minInitLength = 65_536;
const lengthPerSeen = 500;
const lengthOfInbox = lengthPerRoom * maxInboxRooms;

/** The listener of graphql-ws, which accepts a parsed message as well as a text. */
export type MessageListener = (message: ClientMessage) => Promise<void>;

interface QueueParts {
  config: Pick<Config, 'limits'>;
}

/** As how many messages a text counts. */
export function countOf({ length }: { length: number }): number {
  return Math.max(1, Math.ceil(length / lengthPerMessage));
}

/** Checks the messages of one client, and passes a limited number of them to graphql-ws in each turn. */
export class MessageQueue {
  readonly #connection: Connection;
  readonly #listener: MessageListener;
  readonly #maxInitLength: number;
  readonly #order = new OperationOrder();
  readonly #turns: PerTurnQueue<string>;
  #isFirst = true;
  #isPaused = false;

  constructor(connection: Connection, listener: MessageListener, { config: { limits } }: QueueParts) {
    this.#connection = connection;
    this.#listener = listener;
    const handle = contain((text: string) => this.#handle(text), connection.fail);
    this.#turns = new PerTurnQueue(messagesPerTurn, handle, { sizeOf: countOf });
    this.#maxInitLength = Math.max(minInitLength, lengthPerSeen * limits.subscriptions) + lengthOfInbox;
  }

  push(text: string): void {
    if (!this.#connection.isOpen) return;
    if (this.#isFirst && text.length > this.#maxInitLength) {
      return this.#refuse(`The first message must have at most ${this.#maxInitLength} characters`);
    }
    this.#isFirst = false;
    this.#turns.push(text);
    // Later messages wait in the network until the queued messages are handled.
    if (this.#turns.isEmpty || this.#isPaused) return;
    this.#isPaused = true;
    this.#connection.pauseReading();
  }

  #handle(text: string): Promise<void> | undefined {
    if (this.#isPaused && this.#turns.isEmpty) {
      this.#isPaused = false;
      this.#connection.resumeReading();
    }
    if (!this.#connection.isOpen || this.#connection.isEnding) return undefined;
    // An operation may take long, and one turn may handle many.
    flushAnswers();
    return this.#dispatch(text);
  }

  #dispatch(text: string): Promise<void> | undefined {
    const message = this.#read(text);
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
  #read(text: string): ClientMessage | undefined {
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
function begin(connection: Connection, listener: MessageListener, message: SubscribeMessage): Promise<void> {
  const { id } = message;
  return listener(message).finally(() => connection.removeOperation(id));
}
