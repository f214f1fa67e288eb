import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Bus, type BusMessage, type BusMessageOf, hasOtherNodes, nodesTopic } from '../bus/bus.ts';
import { fields, listOf, type Parsed, type Parser, parseJson, text, variants } from '../parsers.ts';
import { type ClientQuestion, parseClientQuestion } from './clients.ts';
import { parseLoadQuestion } from './load.ts';
import { parseRefusalQuestion } from './refusals.ts';

/*
 * What nodes ask each other, and how they answer. A node of another version, which does not have an expected field, is
 * left out of the result.
 */

const questions = {
  /** Finds the other nodes. */
  discover: fields({}),
  status: fields({}),
  clients: fields<{ question: ClientQuestion }>({ question: parseClientQuestion }),
  load: parseLoadQuestion,
  refusals: parseRefusalQuestion,
  /** Ends the connection with this id. */
  end: fields({ id: text }),
  /** The answer follows the reports of the presence in these rooms. */
  presence: fields({ rooms: listOf(text) }),
};

/** Undefined for a question that this program does not know. */
const parseQuestion = variants('kind', questions);
export type Question = Parsed<typeof parseQuestion>;

/** The bytes of JSON in one message: as Base64, they fit into a notification of PostgreSQL. */
const bytesPerPart = 5_400;
/** An answer has at most 50 refusals, of less than 1,700 bytes each. */
const maxParts = 16;

/** How long an answer is waited for. */
const timeoutMs = 500;

export interface OtherNodesParts {
  bus: Bus;
  /** Answers a question of another node; the result becomes JSON. */
  answer: (question: Question) => Promise<unknown>;
  onError: (error: unknown) => void;
}

/** A question that waits for its answers. */
interface PendingQuestion {
  /** The known nodes that have not answered yet. */
  missing: Set<string>;
  /** The answers of which parts have arrived, by node. */
  parts: Map<string, string[]>;
  /** Takes an answer, and returns whether no further one is needed. */
  take: (answer: unknown) => boolean;
  finish: () => void;
}

/**
 * Asks the other nodes over the bus, and answers them. Every node that sends a message is known from then on, until it
 * does not answer in time.
 */
export class OtherNodes {
  readonly #id = randomUUID();
  readonly #parts: OtherNodesParts;
  readonly #known = new Set<string>();
  /** By number. */
  readonly #pending = new Map<number, PendingQuestion>();
  #lastAsk = 0;
  /** Resolves when the nodes that run have had the time to answer. */
  #discovery: Promise<unknown> = Promise.resolve();
  #leave = () => {};

  constructor(parts: OtherNodesParts) {
    this.#parts = parts;
  }

  /** Resolves when questions are received. */
  async open(): Promise<void> {
    const { bus } = this.#parts;
    if (!hasOtherNodes(bus)) return;
    this.#leave = await bus.subscribe(nodesTopic, (message) => this.#receive(message));
    this.#discover();
    bus.onStateChange(() => this.#discover());
  }

  close(): void {
    this.#leave();
  }

  /** Returns the answers that arrive in time, at once if all known nodes have answered or `isEnough` is true of one. */
  async ask<Answer>(question: Question, parse: Parser<Answer>, isEnough = (_: Answer) => false): Promise<Answer[]> {
    await this.#discovery;
    if (!this.#isConnected) return [];
    const answers: Answer[] = [];
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    const take = (json: unknown) => {
      const answer = parse(json);
      if (answer !== undefined) answers.push(answer);
      return answer !== undefined && isEnough(answer);
    };
    const missing = new Set(this.#known);
    const ask = this.#publish(question);
    this.#pending.set(ask, { missing, parts: new Map(), take, finish });
    if (missing.size === 0) finish();
    const timer = setTimeout(() => {
      for (const id of missing) this.#known.delete(id);
      finish();
    }, timeoutMs).unref();
    await promise;
    clearTimeout(timer);
    this.#pending.delete(ask);
    return answers;
  }

  get #isConnected(): boolean {
    const { bus } = this.#parts;
    return hasOtherNodes(bus) && bus.isUp();
  }

  /** All nodes that receive it learn of this node, and this node learns of them by their answers. */
  #discover(): void {
    if (!this.#isConnected) return;
    this.#publish({ kind: 'discover' });
    this.#discovery = wait(timeoutMs, undefined, { ref: false });
  }

  /** Returns the number of the question. */
  #publish(question: Question): number {
    this.#lastAsk += 1;
    const message = { asker: this.#id, ask: this.#lastAsk, question: JSON.stringify(question) };
    this.#parts.bus.publish({ type: 'nodesAsked', ...message });
    return this.#lastAsk;
  }

  #receive(message: BusMessage): void {
    if (message.type === 'nodesAsked' && message.asker !== this.#id) {
      this.#known.add(message.asker);
      this.#answer(message).catch(this.#parts.onError);
    } else if (message.type === 'nodeAnswered' && message.asker === this.#id) {
      this.#known.add(message.from);
      this.#add(message);
    }
  }

  #add({ ask, from, part, parts, content }: BusMessageOf<'nodeAnswered'>): void {
    const pending = this.#pending.get(ask);
    if (!pending || parts > maxParts || part < 0 || part >= parts) return;
    const received = pending.parts.get(from) ?? [];
    received[part] = content;
    pending.parts.set(from, received);
    // `filter` leaves out the parts that have not arrived.
    if (received.filter(() => true).length < parts) return;
    pending.parts.delete(from);
    pending.missing.delete(from);
    if (pending.take(decodeAnswer(received)) || pending.missing.size === 0) pending.finish();
  }

  async #answer({ asker, ask, question: json }: BusMessageOf<'nodesAsked'>): Promise<void> {
    const question = parseQuestion(parseJson(json));
    const parts = (question && encodeAnswer(await this.#parts.answer(question))) ?? [];
    for (const [part, content] of parts.entries()) {
      const answer = { from: this.#id, part, parts: parts.length, content };
      this.#parts.bus.publish({ type: 'nodeAnswered', asker, ask, ...answer });
    }
  }
}

/** The parts of an answer, as they are sent; undefined if it is too long. */
function encodeAnswer(answer: unknown): string[] | undefined {
  const json = Buffer.from(JSON.stringify(answer));
  const count = Math.ceil(json.length / bytesPerPart);
  if (count > maxParts) return undefined;
  return Array.from({ length: count }, (_, part) =>
    json.toString('base64', part * bytesPerPart, (part + 1) * bytesPerPart),
  );
}

function decodeAnswer(parts: readonly string[]): unknown {
  return parseJson(Buffer.concat(parts.map((part) => Buffer.from(part, 'base64'))).toString());
}
