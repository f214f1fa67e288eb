import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type Parser, parseJson } from '../../common/parsers.ts';
import { withinTime } from '../../common/within-time.ts';
import type { Database } from '../../data/database/database.ts';
import { type Bus, type BusMessage, type BusMessageOf, hasOtherNodes, nodesTopic } from '../bus/bus.ts';
import {
  type Client,
  type ClientQuestion,
  type ClientsAnswer,
  mergeAnswers,
  parseClients,
  parseEnded,
} from './clients.ts';
import { joinLoads, type Load, type LoadMeasure, parseLoads } from './load.ts';
import { decodeAnswer, encodeAnswer, maxParts, parseQuestion, type Question } from './node-messages.ts';
import { joinRefusals, parseRefusals, type Refusal } from './refusals.ts';
import { joinReports, type NodeReport, parseReport, type ServerStatus } from './server-status.ts';

/** This node, as the inventory sees it. */
export interface LocalNode {
  readonly name: string;
  readReport(): NodeReport;
  findClients(question: ClientQuestion): ClientsAnswer;
  readLoad(measure: LoadMeasure): Promise<Load[]>;
  findRefusals(requestId: string | null): Refusal[];
  /** Ends a connection, and returns it as it was; undefined if this node does not have it. */
  endClient(id: string): Client | undefined;
}

export interface InventoryParts {
  node: LocalNode;
  database: Pick<Database, 'kind' | 'readVersion' | 'isReady'>;
  bus: Bus;
  /** Reports the presence in these rooms to the other nodes. Resolves when the reports are published. */
  reportPresence: (roomIds: readonly string[]) => Promise<void>;
  onError: (error: unknown) => void;
}

/** How long an answer is waited for. */
const timeoutMs = 500;

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
 * The connections and the state of all nodes, for operators. It asks the other nodes over the bus, and answers them. Every
 * node that sends a message is known from then on, until it does not answer in time.
 */
export class Inventory {
  readonly #id = randomUUID();
  readonly #parts: InventoryParts;
  readonly #known = new Set<string>();
  /** By number. */
  readonly #pending = new Map<number, PendingQuestion>();
  #lastAsk = 0;
  /** Resolves when the nodes that run have had the time to answer. */
  #discovery: Promise<unknown> = Promise.resolve();
  #leave = () => {};
  #reading: Promise<ServerStatus> | undefined;

  constructor(parts: InventoryParts) {
    this.#parts = parts;
  }

  /** Resolves when it answers other nodes. */
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

  async findClients(question: ClientQuestion): Promise<ClientsAnswer> {
    return mergeAnswers(await this.#askAll({ kind: 'clients', question }, parseClients), question);
  }

  async readLoad(measure: LoadMeasure): Promise<Load[]> {
    return joinLoads((await this.#askAll({ kind: 'load', measure }, parseLoads)).flat(), measure);
  }

  /** `requestId`: null for the latest refusals of all requests. */
  async findRefusals(requestId: string | null): Promise<Refusal[]> {
    return joinRefusals((await this.#askAll({ kind: 'refusals', requestId }, parseRefusals)).flat());
  }

  /** Ends a connection of any node, and returns it as it was; undefined if no node has it. */
  async endClient(id: string): Promise<Client | undefined> {
    const own = this.#parts.node.endClient(id);
    if (own) return own;
    const isEnough = ({ ended }: { ended: Client | null }) => ended !== null;
    const answers = await this.#ask({ kind: 'end', id }, parseEnded, isEnough);
    return answers.find(isEnough)?.ended ?? undefined;
  }

  /** Resolves when the other nodes have reported the presence in these rooms. */
  async askForPresence(rooms: readonly string[]): Promise<void> {
    await this.#ask({ kind: 'presence', rooms }, () => undefined);
  }

  /** Concurrent reads share one result. */
  readStatus(): Promise<ServerStatus> {
    this.#reading ??= this.#readStatus().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readStatus(): Promise<ServerStatus> {
    const { bus, database } = this.#parts;
    const [isUp, reports] = await Promise.all([database.isReady(), this.#askAll({ kind: 'status' }, parseReport)]);
    return {
      time: Date.now(),
      database: { kind: database.kind, version: database.readVersion(), isUp },
      bus: { kind: bus.kind, isUp: bus.isUp() },
      ...joinReports(reports),
    };
  }

  /** The answers of this node and of the others. */
  async #askAll<Answer>(question: Question, parse: Parser<Answer>): Promise<Answer[]> {
    const [own, others] = await Promise.all([this.#answer(question), this.#ask(question, parse)]);
    return [own as Answer, ...others];
  }

  async #answer(question: Question): Promise<unknown> {
    const { node } = this.#parts;
    switch (question.kind) {
      case 'discover':
        return null;
      case 'status':
        return node.readReport();
      case 'clients':
        return node.findClients(question.question);
      case 'load':
        return node.readLoad(question.measure);
      case 'refusals':
        return node.findRefusals(question.requestId);
      case 'presence':
        await this.#parts.reportPresence(question.rooms);
        return null;
      case 'end':
        return { ended: node.endClient(question.id) ?? null };
      default:
        return question satisfies never;
    }
  }
  /** Returns the answers of other nodes that arrive in time, at once if all known nodes have answered or `isEnough` is true of one. */
  async #ask<Answer>(question: Question, parse: Parser<Answer>, isEnough = (_: Answer) => false): Promise<Answer[]> {
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
    await withinTime(timeoutMs, promise, () => {
      for (const id of missing) this.#known.delete(id);
    });
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
      this.#answerTo(message).catch(this.#parts.onError);
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

  async #answerTo({ asker, ask, question: json }: BusMessageOf<'nodesAsked'>): Promise<void> {
    const question = parseQuestion(parseJson(json));
    const parts = (question && encodeAnswer(await this.#answer(question))) ?? [];
    for (const [part, content] of parts.entries()) {
      const answer = { from: this.#id, part, parts: parts.length, content };
      this.#parts.bus.publish({ type: 'nodeAnswered', asker, ask, ...answer });
    }
  }
}
