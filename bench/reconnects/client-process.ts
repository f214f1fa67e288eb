import { setTimeout as wait } from 'node:timers/promises';
import { answerCommands } from '../support/worker.ts';
import { type ClientKind, importClient, type ReconnectingClient } from './client.ts';
import { Milliseconds } from './milliseconds.ts';

/* A process with clients. A message is its number and the time at which it was sent. */

export type Command =
  | ({ type: 'connect' } & ConnectOptions)
  /** Ends each connection from time to time, until the next command of this type. */
  | { type: 'cut'; enabled: boolean }
  | { type: 'state' }
  | { type: 'report'; numbers: number[] };

export interface ConnectOptions {
  kind: ClientKind;
  port: number;
  room: string;
  localAddress: string;
  count: number;
  offlineMs?: number | undefined;
  /** Messages have smaller numbers than this. The number 0 is that of messages that are not counted. */
  maxMessages: number;
}

export interface State {
  connected: number;
  /** Clients that have received a message. */
  live: number;
  received: number;
}

export interface Report extends State {
  clients: number;
  lost: number;
  repeated: number;
  /** The smallest number of different messages that a client has received. */
  fewest: number;
  cuts: number;
  /** Of all messages, from the time at which they were sent. */
  latencies: [ms: number, count: number][];
  /** Of messages that were sent while their client had no connection, from the time at which its next one was open. */
  replays: [ms: number, count: number][];
  /** When a client has first lost its connection, when it has last opened one, and how long it had none in all. */
  losses: { lostAt: number; openedAt: number | undefined; offlineMs: number }[];
  cpuMicros: number;
}

const maxConcurrentHandshakes = 50;
const firstCutMs = 5_000;
const cutEveryMs = 15_000;
const spreadMs = 5_000;

/** Milliseconds of a clock that all processes of a machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

const latencies = new Milliseconds();
const replays = new Milliseconds();
const clients: Client[] = [];
let isCutting = false;
let cuts = 0;

class Client {
  readonly counts: Uint8Array;
  readonly opened = Promise.withResolvers<void>();
  isOpen = false;
  openedAt = 0;
  lostAt: number | undefined;
  offlineMs = 0;
  #closedAt = 0;
  readonly #delayMs: number;
  readonly #connection: ReconnectingClient;

  constructor(create: Awaited<ReturnType<typeof importClient>>, options: ConnectOptions) {
    this.counts = new Uint8Array(options.maxMessages);
    this.#delayMs = options.offlineMs ?? 0;
    this.#connection = create({
      ...options,
      onOpen: () => {
        this.isOpen = true;
        this.openedAt = now();
        this.offlineMs += this.openedAt - (this.#closedAt || this.openedAt);
        this.opened.resolve();
      },
      onClosed: () => {
        // An attempt to connect that fails is not a loss.
        if (!this.isOpen) return;
        this.isOpen = false;
        this.#closedAt = now();
        this.lostAt ??= this.#closedAt;
      },
      onMessage: (text) => this.#receive(text),
    });
  }

  /** The times between two cuts are those of the published benchmark. */
  async cutRepeatedly(): Promise<void> {
    await wait(firstCutMs + Math.random() * cutEveryMs);
    while (isCutting) {
      if (this.isOpen) cuts += 1;
      this.#connection.cut();
      await wait(this.#delayMs + cutEveryMs + Math.random() * spreadMs);
    }
  }

  #receive(text: string): void {
    const at = now();
    const [number = 0, sentAt = 0] = text.split(' ').map(Number);
    this.counts[number] = (this.counts[number] ?? 0) + 1;
    if (number === 0) return;
    latencies.add(at - sentAt);
    if (this.lostAt !== undefined && sentAt < this.openedAt) replays.add(at - this.openedAt);
  }
}

answerCommands<Command, State | Report>(async (command) => {
  if (command.type === 'connect') await connect(command);
  if (command.type === 'cut') cut(command.enabled);
  return command.type === 'report' ? report(command.numbers) : readState();
});

async function connect(options: ConnectOptions): Promise<void> {
  const create = await importClient(options.kind);
  while (clients.length < options.count) {
    const length = Math.min(maxConcurrentHandshakes, options.count - clients.length);
    const some = Array.from({ length }, () => new Client(create, options));
    clients.push(...some);
    await Promise.all(some.map(({ opened }) => opened.promise));
  }
}

function cut(enabled: boolean): void {
  isCutting = enabled;
  if (enabled) for (const client of clients) void client.cutRepeatedly();
}

function readState(): State {
  const receivedBy = (counts: Uint8Array) => counts.reduce((sum, count, number) => sum + (number && count), 0);
  return {
    connected: clients.filter(({ isOpen }) => isOpen).length,
    live: clients.filter(({ counts }) => counts[0]).length,
    received: clients.reduce((sum, { counts }) => sum + receivedBy(counts), 0),
  };
}

/** `numbers` are those of all messages that the server has confirmed. */
function report(numbers: readonly number[]): Report {
  const different = clients.map(({ counts }) => numbers.filter((number) => counts[number]).length);
  const all = clients.map(({ counts }) => numbers.reduce((sum, number) => sum + (counts[number] ?? 0), 0));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const { user, system } = process.cpuUsage();
  return {
    ...readState(),
    clients: clients.length,
    lost: clients.length * numbers.length - sum(different),
    repeated: sum(all) - sum(different),
    fewest: Math.min(...different),
    cuts,
    latencies: latencies.entries(),
    replays: replays.entries(),
    losses: clients.flatMap(({ lostAt, isOpen, openedAt, offlineMs }) =>
      lostAt === undefined ? [] : [{ lostAt, openedAt: isOpen ? openedAt : undefined, offlineMs }],
    ),
    cpuMicros: user + system,
  };
}
