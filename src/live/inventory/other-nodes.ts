import { randomUUID } from 'node:crypto';
import { type Bus, type BusMessage, nodesTopic } from '../bus/bus.ts';
import type { Parser } from '../parsers.ts';
import { encodeAnswer, parseQuestion, type Question } from './node-messages.ts';
import { type AnswerPart, type Ask, PendingAsk } from './pending-ask.ts';

/** How long an answer is waited for. */
const timeoutMs = 500;

export interface OtherNodesParts {
  bus: Bus;
  /** Answers a question of another node; the result becomes JSON. */
  answer: (question: Question) => Promise<unknown>;
  onError: (error: unknown) => void;
}

interface AskOptions<Answer> {
  parse: Parser<Answer>;
  isEnough?: (answer: Answer) => boolean;
}

/**
 * Asks the other nodes over the bus, and answers them. Every node that sends a message is known from then on, until it
 * does not answer in time.
 */
export class OtherNodes {
  readonly #id = randomUUID();
  readonly #parts: OtherNodesParts;
  readonly #known = new Set<string>();
  readonly #asks = new Map<number, Ask>();
  #lastAsk = 0;
  /** Resolves when the nodes that run have had the time to answer. */
  #discovery: Promise<unknown> = Promise.resolve();
  #leave = () => {};

  constructor(parts: OtherNodesParts) {
    this.#parts = parts;
  }

  /** Resolves when questions are received. A bus within one process has no other nodes. */
  async open(): Promise<void> {
    const { bus } = this.#parts;
    if (bus.kind === 'memory') return;
    this.#leave = await bus.subscribe(nodesTopic, (message) => this.#receive(message));
    this.#discover();
    bus.onStateChange(() => this.#discover());
  }

  close(): void {
    this.#leave();
  }

  /** Returns the answers that arrive in time, at once if all known nodes have answered or `isEnough` is true of one. */
  async ask<Answer>(
    question: Question,
    { parse, isEnough = () => false }: AskOptions<Answer>,
  ): Promise<readonly Answer[]> {
    await this.#discovery;
    if (!this.#isConnected) return [];
    const pending = new PendingAsk({ expected: this.#known, parse, isEnough });
    await this.#send(question, pending, pending.done);
    return pending.answers;
  }

  get #isConnected(): boolean {
    const { bus } = this.#parts;
    return bus.kind !== 'memory' && bus.isUp();
  }

  /** All nodes that receive it learn of this node, and this node learns of them by their answers. */
  #discover(): void {
    if (!this.#isConnected) return;
    const pending = new PendingAsk({ expected: [], parse: () => undefined, isEnough: () => false });
    this.#discovery = this.#send({ kind: 'discover' }, pending, new Promise(() => {}));
  }

  async #send(question: Question, pending: Ask, done: Promise<void>): Promise<void> {
    this.#lastAsk += 1;
    const ask = this.#lastAsk;
    this.#asks.set(ask, pending);
    this.#parts.bus.publish({ type: 'nodesAsked', asker: this.#id, ask, question: JSON.stringify(question) });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      for (const id of pending.missing) this.#known.delete(id);
      resolve();
    }, timeoutMs).unref();
    await Promise.race([done, late]);
    clearTimeout(timer);
    this.#asks.delete(ask);
  }

  #receive(message: BusMessage): void {
    if (message.type === 'nodesAsked' && message.asker !== this.#id) {
      this.#known.add(message.asker);
      this.#answer(message).catch(this.#parts.onError);
    } else if (message.type === 'nodeAnswered' && message.asker === this.#id) {
      this.#known.add(message.from);
      this.#asks.get(message.ask)?.add(message);
    }
  }

  async #answer({ asker, ask, question: json }: { asker: string; ask: number; question: string }): Promise<void> {
    const question = parseQuestion(json);
    const parts = question && encodeAnswer(await this.#parts.answer(question));
    for (const [part, content] of (parts ?? []).entries()) {
      const answer: AnswerPart = { from: this.#id, part, parts: parts?.length ?? 0, content };
      this.#parts.bus.publish({ type: 'nodeAnswered', asker, ask, ...answer });
    }
  }
}
