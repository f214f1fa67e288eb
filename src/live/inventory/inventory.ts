import type { Database } from '../../data/database/database.ts';
import type { Bus } from '../bus/bus.ts';
import type { Parser } from '../parsers.ts';
import {
  type Client,
  type ClientQuestion,
  type ClientsAnswer,
  mergeAnswers,
  parseClients,
  parseEnded,
} from './clients.ts';
import { joinLoads, type Load, type LoadMeasure, parseLoads } from './load.ts';
import { OtherNodes, type Question } from './other-nodes.ts';
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

/** The connections and the state of all nodes, for operators. */
export class Inventory {
  readonly #parts: InventoryParts;
  readonly #others: OtherNodes;
  #reading: Promise<ServerStatus> | undefined;

  constructor(parts: InventoryParts) {
    this.#parts = parts;
    const { bus, onError } = parts;
    this.#others = new OtherNodes({ bus, onError, answer: (question) => this.#answer(question) });
  }

  /** Resolves when it answers other nodes. */
  open(): Promise<void> {
    return this.#others.open();
  }

  close(): void {
    this.#others.close();
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
    const answers = await this.#others.ask({ kind: 'end', id }, parseEnded, isEnough);
    return answers.find(isEnough)?.ended ?? undefined;
  }

  /** Resolves when the other nodes have reported the presence in these rooms. */
  async askForPresence(rooms: readonly string[]): Promise<void> {
    await this.#others.ask({ kind: 'presence', rooms }, () => undefined);
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
    const [own, others] = await Promise.all([this.#answer(question), this.#others.ask(question, parse)]);
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
}
