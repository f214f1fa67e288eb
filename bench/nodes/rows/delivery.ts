import { setTimeout as wait } from 'node:timers/promises';
import { type Client, createClient } from 'graphql-ws';
import { createPost, createRoom, signUp } from '../../support/accounts.ts';
import { program } from '../../support/program.ts';
import { measureInTurn } from '../../support/rounds.ts';
import { Server } from '../../support/server.ts';
import { percentile, ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { type BusName, busNames } from '../buses.ts';
import { nodeSettings, redisUrl, withDatabase } from '../database.ts';
import type { Run } from './run.ts';

/** What two nodes, PostgreSQL and the clients can do on two processors without a queue. */
const ratePerSecond = 100;
const roomCount = 20;
const drainMs = 500;
const query = 'subscription ($room: ID!) { roomEvents(room: $room) { ... on PostCreated { post { title } } } }';

interface Sample {
  p50: number;
  p99: number;
}

/** From the answer of one node to createPost until a subscriber of the other node has the event. */
export function delivery({ rounds, seconds }: Run): Promise<TableWithTargets> {
  return withDatabase((notifyUrl) =>
    withDatabase(async (redisDatabaseUrl) => {
      const pairs = [
        await Pair.start(nodeSettings(notifyUrl)),
        await Pair.start({ ...nodeSettings(redisDatabaseUrl), REDIS_URL: redisUrl }),
      ];
      try {
        const samples = await measureInTurn(pairs, { rounds, warmUpRounds: 1 }, (pair) => pair.measure(seconds));
        const pick = (name: BusName, key: keyof Sample) =>
          (samples[busNames.indexOf(name)] ?? []).map((sample) => sample[key]);
        return {
          title: 'Delivery by the other node',
          about: `Two real nodes, ${roomCount} rooms, ${ratePerSecond} createPost per second over HTTP. From the answer of one node to the subscriber of the other.`,
          rows: busNames.map((name) => ({
            bus: name,
            'p50, ms': spread(pick(name, 'p50')),
            'p99, ms': spread(pick(name, 'p99')),
          })),
          targets: [
            ...busNames.flatMap((name) => [
              { name: `${name}: p50, ms`, ratios: pick(name, 'p50'), atMost: 1 },
              { name: `${name}: p99, ms`, ratios: pick(name, 'p99'), atMost: 15 },
            ]),
            { name: 'p99: NOTIFY ÷ Redis', ratios: ratios(pick('NOTIFY', 'p99'), pick('Redis', 'p99')), atMost: 1.5 },
          ],
        };
      } finally {
        for (const pair of pairs) await pair.stop();
      }
    }),
  );
}

/** Two nodes on one database: posts are created on one, and received from the other. */
class Pair {
  readonly #nodes: readonly [Server, Server];
  readonly #client: Client;
  readonly #token: string;
  readonly #rooms: readonly string[];
  readonly #arrivals = new Map<string, number>();
  #posts = 0;

  private constructor(nodes: readonly [Server, Server], client: Client, token: string, rooms: readonly string[]) {
    this.#nodes = nodes;
    this.#client = client;
    this.#token = token;
    this.#rooms = rooms;
  }

  static async start(environment: Record<string, string>): Promise<Pair> {
    const [writing, sending] = [
      await Server.start({ command: program, environment }),
      await Server.start({ command: program, environment }),
    ];
    const token = await signUp(writing.port);
    const rooms: string[] = [];
    for (let index = 0; index < roomCount; index += 1)
      rooms.push(await createRoom(writing.port, token, `room ${index}`));
    const client = createClient({ url: `ws://127.0.0.1:${sending.port}/graphql`, lazy: false });
    const pair = new Pair([writing, sending], client, token, rooms);
    await pair.#subscribe();
    return pair;
  }

  /** Every event must arrive. */
  async measure(seconds: number): Promise<Sample> {
    const answers = new Map<string, number>();
    this.#arrivals.clear();
    const startedAt = performance.now();
    const pending: Promise<void>[] = [];
    for (let index = 0; index < ratePerSecond * seconds; index += 1) {
      const early = startedAt + (index * 1_000) / ratePerSecond - performance.now();
      if (early > 0) await wait(early);
      const title = `post ${this.#posts}`;
      this.#posts += 1;
      pending.push(this.#create(title).then(() => void answers.set(title, performance.now())));
    }
    await Promise.all(pending);
    await wait(drainMs);
    const delays = [...answers].map(([title, at]) => Math.max(0, (this.#arrivals.get(title) ?? Number.NaN) - at));
    if (delays.some(Number.isNaN)) throw new Error(`${this.#arrivals.size} of ${delays.length} events arrived.`);
    return { p50: percentile(delays, 0.5), p99: percentile(delays, 0.99) };
  }

  async stop(): Promise<void> {
    await this.#client.dispose();
    for (const node of this.#nodes) await node.stop();
  }

  #create(title: string): Promise<void> {
    const room = this.#rooms[this.#posts % roomCount] ?? '';
    return createPost(this.#nodes[0].port, this.#token, { room, title });
  }

  /** Resolves when an event of each room has arrived. */
  async #subscribe(): Promise<void> {
    for (const room of this.#rooms) {
      this.#client.subscribe<{ roomEvents: { post: { title: string } } }>(
        { query, variables: { room } },
        {
          next: ({ data }) => void (data && this.#arrivals.set(data.roomEvents.post.title, performance.now())),
          error: (error) => {
            throw error;
          },
          complete: () => {},
        },
      );
    }
    while (this.#arrivals.size < roomCount) {
      this.#arrivals.clear();
      for (const room of this.#rooms) {
        await createPost(this.#nodes[0].port, this.#token, { room, title: `first of ${room}` });
      }
      await wait(drainMs);
    }
  }
}
