import type { Parser } from '../parsers.ts';
import { decodeAnswer, maxParts } from './node-messages.ts';

/** A part of the answer of one node. */
export interface AnswerPart {
  from: string;
  part: number;
  parts: number;
  content: string;
}

export interface PendingAskOptions<Answer> {
  /** The nodes that are known. */
  expected: Iterable<string>;
  parse: Parser<Answer>;
  /** Whether no further answer is needed. */
  isEnough: (answer: Answer) => boolean;
}

/** A question, as it receives its answers. */
export interface Ask {
  add(part: AnswerPart): void;
  readonly missing: Iterable<string>;
}

/** Collects the answers of nodes to one question. */
export class PendingAsk<Answer> implements Ask {
  readonly answers: Answer[] = [];
  /** The known nodes that have not answered yet. */
  readonly missing: Set<string>;
  readonly #options: PendingAskOptions<Answer>;
  readonly #parts = new Map<string, string[]>();
  readonly #done = Promise.withResolvers<void>();

  constructor(options: PendingAskOptions<Answer>) {
    this.#options = options;
    this.missing = new Set(options.expected);
  }

  /** Resolves when all known nodes have answered, or no further answer is needed. */
  get done(): Promise<void> {
    if (this.missing.size === 0) this.#done.resolve();
    return this.#done.promise;
  }

  add({ from, part, parts, content }: AnswerPart): void {
    if (parts > maxParts || part < 0 || part >= parts) return;
    const received = this.#parts.get(from) ?? [];
    received[part] = content;
    this.#parts.set(from, received);
    // `filter` leaves out the parts that have not arrived.
    if (received.filter(() => true).length < parts) return;
    this.#parts.delete(from);
    this.#take(from, this.#options.parse(decodeAnswer(received)));
  }

  #take(from: string, answer: Answer | undefined): void {
    this.missing.delete(from);
    if (answer !== undefined) this.answers.push(answer);
    const isEnough = answer !== undefined && this.#options.isEnough(answer);
    if (isEnough || this.missing.size === 0) this.#done.resolve();
  }
}
