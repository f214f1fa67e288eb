import { type Candidate, type CandidateName, type StartOptions, start, titles } from './candidates.ts';
import type { Subscription } from './load.ts';
import { LoadProcess } from './load-process.ts';

export interface ScenarioOptions {
  name: CandidateName;
  /** The number of subscribers of each room. */
  size: number;
  rooms?: number;
  /** The subscribers of a room are divided equally among these documents, in order. */
  queries?: string[];
  /** The number of concurrent requests, each of which publishes an event. The default is 1. */
  burst?: number;
}

export interface Cost {
  /** Server CPU time of events in rooms with subscribers, less that of events in rooms without, per delivery. */
  microsPerDelivery: number;
  /** Server CPU time of an event without subscribers: the request and, in Postroom, the mutation. */
  microsPerEvent: number;
}

/** Milliseconds until the last subscriber has received the event. */
export interface Latency {
  fromRequest: number;
  fromResponse: number;
}

export const eventQuery = `subscription Room($room: ID!) {
  roomEvents(room: $room) { cursor ... on PostCreated { post { id title body author { id name } } } }
}`;

/** The rooms to which one request publishes, and as many rooms without subscribers. */
interface Batch {
  watched: string[];
  empty: string[];
}

const maxBatchLength = 25;
const deliveryTimeoutMs = 30_000;
const firstDeliveryTimeoutMs = 2_000;
const maxFirstDeliveries = 20;
const warmUpMs = 1_500;

/** A running server, its rooms, and their subscribers. Every measurement fails unless every subscriber receives every event once. */
export class Scenario {
  readonly title: string;
  /** The number of all subscribers. */
  readonly size: number;
  readonly candidate: Candidate;
  readonly #load = new LoadProcess();
  readonly #options: ScenarioOptions;
  readonly #rooms: number;
  readonly #burst: number;
  #batches: Batch[] = [];
  #measurement = 0;

  private constructor(candidate: Candidate, options: ScenarioOptions) {
    this.candidate = candidate;
    this.#options = options;
    this.#rooms = options.rooms ?? 1;
    this.#burst = options.burst ?? 1;
    this.title = titles[options.name];
    this.size = options.size * this.#rooms;
  }

  /** Resolves when every subscriber receives events and V8 has compiled the code. */
  static async start(options: ScenarioOptions, startOptions: StartOptions): Promise<Scenario> {
    const scenario = await Scenario.startWithoutSubscribers(options, startOptions);
    await scenario.connect(options.size);
    await scenario.#waitForFirstDelivery();
    const end = Date.now() + warmUpMs;
    while (Date.now() < end) await scenario.measureCost(1);
    return scenario;
  }

  static async startWithoutSubscribers(options: ScenarioOptions, startOptions: StartOptions): Promise<Scenario> {
    const scenario = new Scenario(await start(options.name, startOptions), options);
    await scenario.#createRooms();
    return scenario;
  }

  /** Connects `size` subscribers to each room. */
  async connect(size: number): Promise<void> {
    const { isGraphQL, server } = this.candidate;
    const { queries = [eventQuery] } = this.#options;
    const queryOf = (index: number) => (isGraphQL ? queries[Math.floor((index * queries.length) / size)] : undefined);
    const subscriptions = this.#batches
      .flatMap(({ watched }) => watched)
      .flatMap((room) => Array.from({ length: size }, (_, index): Subscription => ({ room, query: queryOf(index) })));
    await this.#load.connect(server.port, subscriptions);
  }

  async disconnect(): Promise<void> {
    await this.#load.disconnect();
  }

  async stop(): Promise<void> {
    this.#load.stop();
    await this.candidate.server.stop();
  }

  /** The length of the latest event of a subscriber. */
  async eventBytes(): Promise<number> {
    const { last } = await this.#load.report();
    return last[0]?.length ?? 0;
  }

  /**
   * Sends two requests to rooms with subscribers, two to rooms without, and so on. A delivery leaves the caches of the
   * processor cold for the next request. In this order it does so for one request in two of both kinds, and the
   * difference of the two kinds is the cost of the deliveries. Each of the `events` is a burst.
   */
  async measureCost(events: number): Promise<Cost> {
    const even = events + (events % 2);
    const total = even * this.#burst;
    const requests = Array.from({ length: even }, (_, index) =>
      this.#batches.map((batch) => ({ ...batch, number: index + 1 })),
    ).flat();
    const used = { watched: 0, empty: 0 };
    await this.#resetCounts(total);
    for (let from = 0; from < requests.length; from += 2) {
      const pair = requests.slice(from, from + 2);
      const before = await this.#cpuMicros();
      for (const { watched, number } of pair) await this.#publishAndWait(watched, number);
      const between = await this.#cpuMicros();
      for (const { empty, number } of pair) await this.#publish(empty, number);
      used.watched += between - before;
      used.empty += (await this.#cpuMicros()) - between;
    }
    await this.#checkCounts(total);
    return {
      microsPerDelivery: (used.watched - used.empty) / (total * this.size),
      microsPerEvent: used.empty / (total * this.#rooms),
    };
  }

  async measureLatency(events: number): Promise<Latency[]> {
    const latencies: Latency[] = [];
    await this.#resetCounts(events);
    for (let number = 1; number <= events; number += 1) {
      for (const { watched } of this.#batches) latencies.push(await this.#publishAndWait(watched, number));
    }
    await this.#checkCounts(events);
    return latencies;
  }

  async #createRooms(): Promise<void> {
    const [watched, empty] = [await this.#createBatches(), await this.#createBatches()];
    this.#batches = watched.map((rooms, index) => ({ watched: rooms, empty: empty[index] ?? [] }));
  }

  async #createBatches(): Promise<string[][]> {
    const rooms = await this.candidate.createRooms(this.#rooms);
    const length = Math.min(maxBatchLength, rooms.length);
    return Array.from({ length: rooms.length / length }, (_, index) =>
      rooms.slice(index * length, (index + 1) * length),
    );
  }

  /** Publishes events until all subscribers receive one, because not every protocol reports when a subscription is live. */
  async #waitForFirstDelivery(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#resetCounts(this.#burst);
      for (const { watched } of this.#batches) await this.#publishAndWait(watched, 1, firstDeliveryTimeoutMs);
      try {
        return await this.#checkCounts(this.#burst);
      } catch (error) {
        if (attempt === maxFirstDeliveries) throw error;
      }
    }
  }

  async #resetCounts(events: number): Promise<void> {
    this.#measurement += 1;
    await this.#load.count((this.size / this.#batches.length) * this.#burst, events);
  }

  /** Publishes a burst. Resolves when all subscribers have received it, or after the timeout, which `#checkCounts` reports. */
  async #publishAndWait(rooms: readonly string[], number: number, timeoutMs = deliveryTimeoutMs): Promise<Latency> {
    const arrival = this.#load.step(AbortSignal.timeout(timeoutMs)).catch(() => Number.NaN);
    const sent = now();
    await this.#publish(rooms, number);
    const answered = now();
    const arrived = await arrival;
    return { fromRequest: (arrived - sent) / 1e6, fromResponse: (arrived - answered) / 1e6 };
  }

  /** All events of a burst have the same title, because their order is not defined. */
  async #publish(rooms: readonly string[], number: number): Promise<void> {
    const title = this.#titleOf(number * this.#burst);
    await Promise.all(Array.from({ length: this.#burst }, () => this.candidate.publish(rooms, title)));
  }

  async #cpuMicros(): Promise<number> {
    return (await this.candidate.server.usage()).cpuMicros;
  }

  async #checkCounts(events: number): Promise<void> {
    const { fewest, most, last, failures } = await this.#load.report();
    if (failures.length > 0) throw new Error(`${this.title}: ${failures.join('; ')}`);
    if (fewest !== events || most !== events) {
      throw new Error(`${this.title}: subscribers received ${fewest} to ${most} of ${events} events`);
    }
    const wrong = last.find((text) => !text.includes(this.#titleOf(events)) || text.includes('"errors"'));
    if (wrong !== undefined && this.candidate.isGraphQL) throw new Error(`${this.title}: the last event is ${wrong}`);
  }

  /** The title of an event. All titles have the same length, so that all events have the same length. */
  #titleOf(number: number): string {
    return `Event ${String(this.#measurement).padStart(4, '0')}/${String(number).padStart(6, '0')}`;
  }
}

/** Nanoseconds of the monotonic clock. */
function now(): number {
  return Number(process.hrtime.bigint());
}
