import { setTimeout as wait } from 'node:timers/promises';
import { Worker } from '../support/worker.ts';
import type { Command, ConnectOptions, Report, State } from './client-process.ts';
import { Milliseconds } from './milliseconds.ts';
import type { Running } from './servers.ts';

export type Totals = Omit<Report, 'latencies' | 'replays'> & { latencies: Milliseconds; replays: Milliseconds };

const minProcesses = 2;
const maxClientsOfProcess = 2_500;
const pollMs = 250;
const liveTimeoutMs = 60_000;
const backTimeoutMs = 60_000;
const endTimeoutMs = 120_000;
/** Nothing more is expected after this time without a message. */
const quietMs = 10_000;

/** Clients of one server in processes of their own. */
export class Clients {
  readonly #processes: readonly Worker<Command, State | Report>[];
  readonly #count: number;

  private constructor(count: number) {
    const processes = Math.max(minProcesses, Math.ceil(count / maxClientsOfProcess));
    this.#count = count;
    this.#processes = Array.from(
      { length: processes },
      () => new Worker<Command, State | Report>(new URL('./client-process.ts', import.meta.url)),
    );
  }

  /** Resolves when all clients receive messages. */
  static async connect(
    server: Running,
    count: number,
    options: Pick<ConnectOptions, 'offlineMs' | 'maxMessages'>,
  ): Promise<Clients> {
    const clients = new Clients(count);
    const processes = clients.#processes.length;
    const { kind, port, room } = server;
    await Promise.all(
      clients.#processes.map((process, index) =>
        process.send({
          type: 'connect',
          kind,
          port,
          room,
          ...options,
          count: Math.floor((count * (index + 1)) / processes) - Math.floor((count * index) / processes),
          // Each address has ports of its own.
          localAddress: `127.0.0.${2 + index}`,
        }),
      ),
    );
    const signal = AbortSignal.timeout(liveTimeoutMs);
    while ((await clients.state()).live < count) {
      signal.throwIfAborted();
      await server.publish(0);
      await wait(pollMs);
    }
    return clients;
  }

  async setCutting(enabled: boolean): Promise<void> {
    await this.#ask({ type: 'cut', enabled });
  }

  async state(): Promise<State> {
    const states = await this.#ask<State>({ type: 'state' });
    const sum = (pick: (state: State) => number) => states.reduce((total, state) => total + pick(state), 0);
    return {
      connected: sum((each) => each.connected),
      live: sum((each) => each.live),
      received: sum((each) => each.received),
    };
  }

  /** Resolves when all clients are connected, or after a minute. */
  async waitUntilConnected(): Promise<void> {
    const end = performance.now() + backTimeoutMs;
    while (performance.now() < end && (await this.state()).connected < this.#count) await wait(pollMs);
  }

  /** Resolves when so many messages were received, when no more arrive, or after two minutes. */
  async waitUntilReceived(expected: number): Promise<void> {
    let { received } = await this.state();
    const end = performance.now() + endTimeoutMs;
    let changedAt = performance.now();
    while (received < expected && performance.now() < Math.min(end, changedAt + quietMs)) {
      await wait(pollMs);
      const state = await this.state();
      // A client without a connection may receive more.
      if (state.received > received || state.connected < this.#count) changedAt = performance.now();
      received = state.received;
    }
  }

  /** `numbers` are those of all messages that the server has confirmed. */
  async report(numbers: number[]): Promise<Totals> {
    const reports = await this.#ask<Report>({ type: 'report', numbers });
    const sum = (pick: (report: Report) => number) => reports.reduce((total, report) => total + pick(report), 0);
    const merge = (pick: (report: Report) => [number, number][]) => {
      const merged = new Milliseconds();
      for (const [ms, count] of reports.flatMap(pick)) merged.add(ms, count);
      return merged;
    };
    return {
      ...(await this.state()),
      clients: this.#count,
      lost: sum(({ lost }) => lost),
      repeated: sum(({ repeated }) => repeated),
      fewest: Math.min(...reports.map(({ fewest }) => fewest)),
      cuts: sum(({ cuts }) => cuts),
      latencies: merge(({ latencies }) => latencies),
      replays: merge(({ replays }) => replays),
      losses: reports.flatMap(({ losses }) => losses),
      cpuMicros: sum(({ cpuMicros }) => cpuMicros),
    };
  }

  stop(): void {
    for (const process of this.#processes) process.stop();
  }

  #ask<Reply extends State>(command: Command): Promise<Reply[]> {
    return Promise.all(this.#processes.map((process) => process.send(command) as Promise<Reply>));
  }
}
