import type { Worker } from 'node:cluster';

interface Message {
  /** The number of a question, or of the question that is answered. */
  ask: number;
  /** Undefined in an answer. */
  kind?: string;
  content?: unknown;
}

/** Questions and answers between a worker and its parent, over the channel that Node opens between them. */
export class Channel {
  /** Answer the questions of the other process, by kind. */
  readonly handlers: Record<string, (content: never) => unknown> = {};
  readonly #peer: Pick<Worker, 'send' | 'on'>;
  readonly #pending = new Map<number, (answer: unknown) => void>();
  #lastAsk = 0;

  constructor(peer: NodeJS.Process | Worker) {
    this.#peer = peer as Worker;
    this.#peer.on('message', async ({ ask, kind, content }: Message) => {
      if (kind !== undefined) return this.#send({ ask, content: await this.handlers[kind]?.(content as never) });
      this.#pending.get(ask)?.(content);
      this.#pending.delete(ask);
    });
  }

  /** Undefined if the other process has no handler. Never resolves if it ends first. */
  ask<Answer>(kind: string, content?: unknown): Promise<Answer | undefined> {
    this.#lastAsk += 1;
    this.#send({ ask: this.#lastAsk, kind, content });
    return new Promise((resolve) => this.#pending.set(this.#lastAsk, resolve as (answer: unknown) => void));
  }

  #send(message: Message): void {
    // With a callback it neither throws nor emits an error: the other process may have ended.
    this.#peer.send(message, () => {});
  }
}
