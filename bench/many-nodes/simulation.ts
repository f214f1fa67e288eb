import { type OwnServer, OwnServers } from '../capacity/own-servers.ts';
import { cpuMicrosOf } from '../capacity/processor-time.ts';
import type { BusName } from '../nodes/buses.ts';
import { Worker } from '../support/worker.ts';
import type { Command, Reply } from './nodes.ts';

export const processCount = 2;

export interface Servers {
  postgres: OwnServer;
  redis: OwnServer;
}

/** Does work with a PostgreSQL and a Redis that are stopped afterwards. */
export async function withServers<T>(work: (servers: Servers) => Promise<T>): Promise<T> {
  const servers = new OwnServers();
  try {
    return await work({
      postgres: await servers.startPostgres(['max_connections=500']),
      redis: await servers.startRedis(),
    });
  } finally {
    await servers.stop();
  }
}

/** The figures of all nodes together. */
export interface Figures extends Reply {
  serverMicros: number;
}

/** Nodes that exchange messages over a bus, in a few processes. */
export class Simulation {
  readonly nodes: number;
  readonly #servers: Servers;
  readonly #bus: BusName;
  readonly #workers: Worker<Command, Reply>[];

  private constructor(servers: Servers, bus: BusName, nodes: number) {
    this.#servers = servers;
    this.#bus = bus;
    this.nodes = nodes;
    this.#workers = Array.from({ length: processCount }, () => new Worker(new URL('./nodes.ts', import.meta.url)));
  }

  static async start(servers: Servers, bus: BusName, nodes: number): Promise<Simulation> {
    const simulation = new Simulation(servers, bus, nodes);
    const [databaseUrl, redisUrl] = [servers.postgres.url, servers.redis.url];
    const count = nodes / processCount;
    await Promise.all(
      simulation.#workers.map((worker, index) =>
        worker.send({ type: 'open', bus, databaseUrl, redisUrl, nodes, first: index * count, count }),
      ),
    );
    return simulation;
  }

  async send(command: Command): Promise<Figures> {
    const before = this.#serverMicros();
    const share = command.type === 'events' ? { perSecond: command.perSecond / processCount } : {};
    const replies = await Promise.all(this.#workers.map((worker) => worker.send({ ...command, ...share })));
    const sum = (name: keyof Reply) => replies.reduce((all, reply) => all + reply[name], 0);
    const greatest = (name: keyof Reply) => Math.max(...replies.map((reply) => reply[name]));
    return {
      published: sum('published'),
      received: sum('received'),
      lost: sum('lost'),
      delivered: sum('delivered'),
      cpuMicros: sum('cpuMicros'),
      joinMs: sum('joinMs'),
      p50: greatest('p50'),
      p99: greatest('p99'),
      longestJoinMs: greatest('longestJoinMs'),
      serverMicros: this.#serverMicros() - before,
    };
  }

  async stop(): Promise<void> {
    await this.send({ type: 'close' });
    for (const worker of this.#workers) worker.stop();
  }

  #serverMicros(): number {
    const { postgres, redis } = this.#servers;
    return cpuMicrosOf(this.#bus === 'NOTIFY' ? postgres.pid : redis.pid);
  }
}
