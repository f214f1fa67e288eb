import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Subscription } from '../fan-out/load.ts';
import { LoadProcess } from '../fan-out/load-process.ts';
import { eventQuery } from '../fan-out/scenario.ts';
import { nodeSettings } from '../nodes/database.ts';
import { createPost, createRoom, signUp } from '../support/accounts.ts';
import { program } from '../support/program.ts';
import type { Usage } from '../support/report-usage.ts';
import { Server } from '../support/server.ts';
import { OwnServers } from './own-servers.ts';
import { cpuMicrosOf } from './processor-time.ts';

export type BusKind = 'none' | 'notify' | 'redis';

export interface InstallationOptions {
  /** Without a bus the database is SQLite, and there is one node. */
  bus: BusKind;
  nodes: number;
}

/** CPU seconds of a second, resident bytes and bytes to clients per second. */
export interface Load {
  /** One of each node. */
  nodeCores: number[];
  nodeBytes: number[];
  databaseCores: number;
  redisCores: number;
  sentBytes: number;
  /** The posts that were created, per second: fewer than wanted if the machine is too busy. */
  eventsPerSecond: number;
}

export interface Traffic {
  seconds: number;
  eventsPerSecond: number;
  /** The rooms of the events, in turn. */
  rooms: readonly string[];
  /** The node that receives the mutations, or undefined for all in turn. */
  writer?: number;
}

const maxSubscribersOfLoad = 10_000;
const body =
  'A body of some length, as people write them to each other in a room: two lines on a phone, one on a desk.';

/** Nodes with a database, and perhaps a Redis, of their own, and subscribers in other processes. */
export class Installation {
  readonly nodes: Server[] = [];
  token = '';
  readonly #servers = new OwnServers();
  readonly #loads: LoadProcess[] = [];
  #postgres: number | undefined;
  #redis: number | undefined;
  #posts = 0;

  static async start(options: InstallationOptions): Promise<Installation> {
    const installation = new Installation();
    try {
      await installation.#start(options);
      return installation;
    } catch (error) {
      await installation.stop();
      throw error;
    }
  }

  async stop(): Promise<void> {
    for (const load of this.#loads) load.stop();
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.#servers.stop();
  }

  async createRooms(count: number): Promise<string[]> {
    const rooms: string[] = [];
    for (let number = 0; number < count; number += 1)
      rooms.push(await createRoom(this.nodes[0]?.port ?? 0, this.token, randomUUID()));
    return rooms;
  }

  /** Connects `each` subscribers to each of these rooms of one node, or of all in turn. */
  async connect(
    rooms: readonly string[],
    each: number,
    { node, query = eventQuery }: { node?: number; query?: string } = {},
  ) {
    const subscriptions = rooms.flatMap((room) => Array.from({ length: each }, (): Subscription => ({ room, query })));
    const byNode = this.nodes.map((_, index) =>
      subscriptions.filter((_, number) => (node ?? number % this.nodes.length) === index),
    );
    for (const [index, all] of byNode.entries())
      for (let from = 0; from < all.length; from += maxSubscribersOfLoad) {
        const load = new LoadProcess();
        this.#loads.push(load);
        const localAddress = `127.0.0.${this.#loads.length + 1}`;
        const some = all.slice(from, from + maxSubscribersOfLoad).map((one) => ({ ...one, localAddress }));
        await load.connect(this.nodes[index]?.port ?? 0, some);
      }
    // Subscriptions are not acknowledged.
    await wait(2_000);
  }

  async disconnect(): Promise<void> {
    for (const load of this.#loads.splice(0)) {
      await load.disconnect();
      load.stop();
    }
    await wait(1_000);
  }

  /** What the parts use while posts are created. */
  async run(traffic: Traffic): Promise<Load> {
    const count = Math.round(traffic.seconds * traffic.eventsPerSecond);
    for (const load of this.#loads) await load.count(Number.POSITIVE_INFINITY, count);
    const before = await this.#usage();
    const startedAt = performance.now();
    await this.#publish(traffic, count);
    await wait(Math.max(0, startedAt + traffic.seconds * 1_000 - performance.now()));
    const after = await this.#usage();
    const seconds = (performance.now() - startedAt) / 1_000;
    const perSecond = (from: number, to: number) => (to - from) / seconds;
    return {
      nodeCores: after.nodes.map((node, index) => perSecond(before.nodes[index]?.cpuMicros ?? 0, node.cpuMicros) / 1e6),
      nodeBytes: after.nodes.map(({ rssBytes }) => rssBytes),
      databaseCores: perSecond(before.database, after.database) / 1e6,
      redisCores: perSecond(before.redis, after.redis) / 1e6,
      sentBytes: perSecond(before.bytes, after.bytes),
      eventsPerSecond: count / seconds,
    };
  }

  /** Creates as many posts as possible in one room, and returns their number per second. */
  async fill(room: string, seconds: number): Promise<number> {
    const startedAt = performance.now();
    let count = 0;
    const create = async () => {
      while (performance.now() < startedAt + seconds * 1_000) {
        await createPost(this.nodes[0]?.port ?? 0, this.token, { room, title: 'Event of a busy room', body });
        count += 1;
      }
    };
    await Promise.all(Array.from({ length: 16 }, create));
    return (count * 1_000) / (performance.now() - startedAt);
  }

  /** The CPU time of the first node. */
  async cpuMicros(): Promise<number> {
    return (await this.nodes[0]?.usage())?.cpuMicros ?? Number.NaN;
  }

  /** The memory of each node after garbage collection. */
  memory(): Promise<Usage[]> {
    return Promise.all(this.nodes.map((node) => node.usage('usage after gc')));
  }

  async #start({ bus, nodes }: InstallationOptions): Promise<void> {
    const environment = await this.#settings(bus);
    for (let index = 0; index < nodes; index += 1)
      this.nodes.push(await Server.start({ command: program, environment }));
    this.token = await signUp(this.nodes[0]?.port ?? 0);
  }

  async #settings(bus: BusKind): Promise<Record<string, string>> {
    const limits = { LIMIT_SOCKETS: '1000000', SLOW_OPERATION_MS: '0' };
    if (bus === 'none') {
      const url = `sqlite:${join(this.#servers.folder, 'postroom.db')}`;
      return { PORT: '0', DATABASE_URL: url, RATE_LIMIT: '0', SIGN_IN_ATTEMPTS: '1000000', ...limits };
    }
    const postgres = await this.#servers.startPostgres();
    this.#postgres = postgres.pid;
    if (bus === 'notify') return { ...nodeSettings(postgres.url), ...limits };
    const redis = await this.#servers.startRedis();
    this.#redis = redis.pid;
    return { ...nodeSettings(postgres.url), ...limits, REDIS_URL: redis.url };
  }

  async #usage() {
    const reports = await Promise.all(this.#loads.map((load) => load.report()));
    const failures = reports.flatMap((report) => report.failures);
    if (failures.length > 0) throw new Error(failures.join('; '));
    return {
      bytes: reports.reduce((sum, { bytes }) => sum + bytes, 0),
      nodes: await Promise.all(this.nodes.map((node) => node.usage())),
      database: this.#postgres === undefined ? 0 : cpuMicrosOf(this.#postgres),
      redis: this.#redis === undefined ? 0 : cpuMicrosOf(this.#redis),
    };
  }

  /** Each mutation has its time, so that a late one is followed by the next at once. */
  async #publish({ eventsPerSecond, rooms, writer }: Traffic, count: number): Promise<void> {
    const startedAt = performance.now();
    const pending: Promise<void>[] = [];
    for (let index = 0; index < count; index += 1) {
      const early = startedAt + (index * 1_000) / eventsPerSecond - performance.now();
      if (early > 0) await wait(early);
      this.#posts += 1;
      const node = this.nodes[writer ?? index % this.nodes.length];
      const room = rooms[index % rooms.length] ?? '';
      const title = `Event ${String(this.#posts).padStart(8, '0')}`;
      pending.push(createPost(node?.port ?? 0, this.token, { room, title, body }));
    }
    await Promise.all(pending);
  }
}
