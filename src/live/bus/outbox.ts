import { type BusCounts, carriesNodeMessages } from './bus.ts';
import type { EncodedMessage } from './wire-format.ts';

/** The maximum size of the messages that wait to be sent, not counting messages of nodes. */
const maxWaitingBytes = 2 ** 20;
/** The maximum size of the messages of nodes that wait to be sent. */
const maxNodesBytes = 2 ** 18;
/** Leaves space for questions and answers. */
const backlogBytes = 2 ** 16;
const maxBatchBytes = 2 ** 18;

type Send = (batch: readonly EncodedMessage[]) => Promise<void>;

interface OutboxParts {
  /** The number of batches on their way at the same time. */
  maxInFlight: number;
  /** The message that replaces lost messages. */
  wakeUp: EncodedMessage;
  counts: BusCounts;
}

/**
 * Messages that wait to be sent, in order. Those that are published while a batch is on its way are sent together
 * afterwards. Messages that do not fit, or whose batch failed, are replaced by one wake-up: their receivers check the
 * database. A message of nodes that does not fit is dropped alone, because the database does not contain what it says.
 */
export class Outbox {
  readonly #parts: OutboxParts;
  #waiting: EncodedMessage[] = [];
  #waitingBytes = 0;
  /** Not part of `#waitingBytes`. */
  #nodesBytes = 0;
  #inFlight = 0;
  #isScheduled = false;
  #send: Send | undefined;
  #onEmpty: (() => void) | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  add(message: EncodedMessage): void {
    if (carriesNodeMessages(message.topic) && this.#nodesBytes + message.bytes > maxNodesBytes)
      return this.#countLost([message]);
    this.#waiting.push(message);
    this.#countBytes(message, message.bytes);
    if (this.#waitingBytes > maxWaitingBytes) this.#replaceAll();
    this.#schedule();
  }

  /** Sends the waiting messages and all later ones with `send`, until the next call. Undefined: they wait. */
  sendWith(send: Send | undefined): void {
    this.#send = send;
    // Answers of an earlier connection do not count.
    this.#inFlight = 0;
    this.#schedule();
  }

  /** The number of messages that wait. */
  get size(): number {
    return this.#waiting.length;
  }

  /** While nothing is sent, messages of nodes that do not fit are dropped. */
  get hasBacklog(): boolean {
    return this.#send !== undefined && this.#nodesBytes > backlogBytes;
  }

  /** Resolves when all messages are sent. */
  async drain(): Promise<void> {
    if (!this.#send || this.#isEmpty) return;
    await new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
    });
  }

  get #isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#inFlight === 0;
  }

  /** The messages of one turn, such as those of one change, leave together. */
  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    process.nextTick(() => {
      this.#isScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#send && this.#waiting.length > 0 && this.#inFlight < this.#parts.maxInFlight)
      this.#sendBatch(this.#send);
    if (this.#isEmpty) this.#onEmpty?.();
  }

  #sendBatch(send: Send): void {
    this.#inFlight += 1;
    const settle = () => {
      if (send !== this.#send) return;
      this.#inFlight -= 1;
      this.#flush();
    };
    const batch = this.#takeBatch();
    // After a failure the connection is replaced.
    send(batch).then(settle, () => this.#replaceLost(send, batch));
  }

  #takeBatch(): EncodedMessage[] {
    let bytes = 0;
    const end = this.#waiting.findIndex((message) => {
      bytes += message.bytes;
      return bytes > maxBatchBytes;
    });
    // The first message is sent even if it is longer than a batch.
    const batch = this.#waiting.splice(0, end < 0 ? this.#waiting.length : Math.max(1, end));
    for (const message of batch) this.#countBytes(message, -message.bytes);
    return batch;
  }

  #replaceLost(send: Send, batch: readonly EncodedMessage[]): void {
    this.#countLost(batch);
    if (send === this.#send) this.#send = undefined;
    if (this.#waiting[0] === this.#parts.wakeUp) return;
    this.#waiting.unshift(this.#parts.wakeUp);
    this.#waitingBytes += this.#parts.wakeUp.bytes;
    // A new connection may have been set before the loss was reported.
    this.#schedule();
  }

  #countBytes({ topic }: EncodedMessage, bytes: number): void {
    if (carriesNodeMessages(topic)) this.#nodesBytes += bytes;
    else this.#waitingBytes += bytes;
  }

  #countLost(messages: readonly EncodedMessage[]): void {
    this.#parts.counts.lost += messages.filter((message) => message !== this.#parts.wakeUp).length;
  }

  #replaceAll(): void {
    const { wakeUp } = this.#parts;
    this.#countLost(this.#waiting);
    this.#waiting = [wakeUp];
    this.#waitingBytes = wakeUp.bytes;
    this.#nodesBytes = 0;
  }
}
