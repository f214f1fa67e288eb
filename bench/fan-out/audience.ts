import { type Contestant, type ContestantName, type StartOptions, start, titles } from './contestants.ts';
import type { Seat } from './load.ts';
import { LoadProcess } from './load-process.ts';

export interface AudienceOptions {
  name: ContestantName;
  /** Subscribers of each room. */
  size: number;
  rooms?: number;
  /** As many subscribers for each; those of one come one after the other. */
  queries?: string[];
  /** So many requests are under way at the same time, each with an event of its own: 1 where nothing is said. */
  burst?: number;
}

export interface Cost {
  /** Server CPU that `size` × `rooms` deliveries cost more than the same events in rooms where nobody listens. */
  microsPerDelivery: number;
  /** Server CPU of an event that nobody gets: the request, and with Postroom the mutation. */
  microsPerEvent: number;
}

export interface Latency {
  /** In milliseconds, to the last subscriber. */
  fromRequest: number;
  fromResponse: number;
}

export const eventQuery = `subscription Room($room: ID!) {
  roomEvents(room: $room) { cursor ... on PostCreated { post { id title body author { id name } } } }
}`;

/** Rooms that get an event in one request, and as many where nobody listens. */
interface Batch {
  watched: string[];
  empty: string[];
}

const maxBatchLength = 25;
const patienceMs = 30_000;
const settlingMs = 2_000;
const settlingAttempts = 20;
const warmUpMs = 1_500;

/** One contestant with its subscribers. What it measures it also checks: every subscriber gets every event, once. */
export class Audience {
  readonly title: string;
  /** All subscribers. */
  readonly size: number;
  readonly contestant: Contestant;
  readonly #load = new LoadProcess();
  readonly #options: AudienceOptions;
  readonly #rooms: number;
  readonly #burst: number;
  #batches: Batch[] = [];
  #block = 0;

  private constructor(contestant: Contestant, options: AudienceOptions) {
    this.contestant = contestant;
    this.#options = options;
    this.#rooms = options.rooms ?? 1;
    this.#burst = options.burst ?? 1;
    this.title = titles[options.name];
    this.size = options.size * this.#rooms;
  }

  /** Starts the contestant, and returns when everyone listens and the code is warm. */
  static async gather(options: AudienceOptions, startOptions: StartOptions): Promise<Audience> {
    const audience = await Audience.gatherNobody(options, startOptions);
    await audience.connect(options.size);
    await audience.#settle();
    const end = Date.now() + warmUpMs;
    while (Date.now() < end) await audience.measureCost(1);
    return audience;
  }

  /** Starts the contestant; its subscribers are still to come. */
  static async gatherNobody(options: AudienceOptions, startOptions: StartOptions): Promise<Audience> {
    const audience = new Audience(await start(options.name, startOptions), options);
    await audience.#createRooms();
    return audience;
  }

  /** So many subscribers for each room. */
  async connect(size: number): Promise<void> {
    const { isGraphQL, server } = this.contestant;
    const { queries = [eventQuery] } = this.#options;
    const queryOf = (index: number) => (isGraphQL ? queries[Math.floor((index * queries.length) / size)] : undefined);
    const seats = this.#batches
      .flatMap(({ watched }) => watched)
      .flatMap((room) => Array.from({ length: size }, (_, index): Seat => ({ room, query: queryOf(index) })));
    await this.#load.connect(server.port, seats);
  }

  async leave(): Promise<void> {
    await this.#load.leave();
  }

  async stop(): Promise<void> {
    this.#load.stop();
    await this.contestant.server.stop();
  }

  /** The length of the event that a subscriber got last. */
  async frameBytes(): Promise<number> {
    const { last } = await this.#load.report();
    return last[0]?.length ?? 0;
  }

  /**
   * Two requests with subscribers, two without, and so on: in both kinds one request in two comes behind deliveries,
   * which leave the processor's caches cold, so that what is left between the kinds are the deliveries. Of `events` each
   * stands for as many as come at the same time.
   */
  async measureCost(events: number): Promise<Cost> {
    const even = events + (events % 2);
    const total = even * this.#burst;
    const requests = Array.from({ length: even }, (_, index) =>
      this.#batches.map((batch) => ({ ...batch, index })),
    ).flat();
    const used = { watched: 0, empty: 0 };
    await this.#begin(total);
    for (let from = 0; from < requests.length; from += 2) {
      const pair = requests.slice(from, from + 2);
      const before = await this.#cpuMicros();
      for (const { watched, index } of pair) await this.#play(watched, index + 1);
      const between = await this.#cpuMicros();
      for (const { empty, index } of pair) await this.#publish(empty, index + 1);
      used.watched += between - before;
      used.empty += (await this.#cpuMicros()) - between;
    }
    await this.#check(total);
    return {
      microsPerDelivery: (used.watched - used.empty) / (total * this.size),
      microsPerEvent: used.empty / (total * this.#rooms),
    };
  }

  async measureLatency(events: number): Promise<Latency[]> {
    const latencies: Latency[] = [];
    await this.#begin(events);
    for (let number = 1; number <= events; number += 1) {
      for (const { watched } of this.#batches) latencies.push(await this.#play(watched, number));
    }
    await this.#check(events);
    return latencies;
  }

  async #createRooms(): Promise<void> {
    const [watched, empty] = [await this.#createBatches(), await this.#createBatches()];
    this.#batches = watched.map((rooms, index) => ({ watched: rooms, empty: empty[index] ?? [] }));
  }

  async #createBatches(): Promise<string[][]> {
    const rooms = await this.contestant.createRooms(this.#rooms);
    const length = Math.min(maxBatchLength, rooms.length);
    return Array.from({ length: rooms.length / length }, (_, index) =>
      rooms.slice(index * length, (index + 1) * length),
    );
  }

  /** Not every protocol tells when a subscription is live: events show it. */
  async #settle(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#begin(this.#burst);
      for (const { watched } of this.#batches) await this.#play(watched, 1, settlingMs);
      const isComplete = await this.#check(this.#burst).then(
        () => true,
        (error: unknown) => {
          if (attempt === settlingAttempts) throw error;
        },
      );
      if (isComplete) return;
    }
  }

  /** From here on `#check` counts. */
  async #begin(events: number): Promise<void> {
    this.#block += 1;
    await this.#load.count((this.size / this.#batches.length) * this.#burst, events);
  }

  /** The burst of this number in each of these rooms; returns when all subscribers have got it, or patience ends. */
  async #play(rooms: readonly string[], number: number, patience = patienceMs): Promise<Latency> {
    const arrival = this.#load.step(AbortSignal.timeout(patience)).catch(() => Number.NaN);
    const sent = now();
    await this.#publish(rooms, number);
    const answered = now();
    const arrived = await arrival;
    return { fromRequest: (arrived - sent) / 1e6, fromResponse: (arrived - answered) / 1e6 };
  }

  /** Numbers the events from 1 on; which of a burst comes last is open, so all of it have the number of the last. */
  async #publish(rooms: readonly string[], number: number): Promise<void> {
    const title = this.#name(number * this.#burst);
    await Promise.all(Array.from({ length: this.#burst }, () => this.contestant.publish(rooms, title)));
  }

  async #cpuMicros(): Promise<number> {
    return (await this.contestant.server.usage()).cpuMicros;
  }

  async #check(events: number): Promise<void> {
    const { fewest, most, last, failures } = await this.#load.report();
    if (failures.length > 0) throw new Error(`${this.title}: ${failures.join(' · ')}`);
    if (fewest !== events || most !== events) {
      throw new Error(`${this.title}: of ${events} events a subscriber got ${fewest}, another ${most}`);
    }
    const wrong = last.find((text) => !text.includes(this.#name(events)) || text.includes('"errors"'));
    if (wrong !== undefined && this.contestant.isGraphQL) throw new Error(`${this.title}: the last event is ${wrong}`);
  }

  /** Of one length, so that all events are. */
  #name(number: number): string {
    return `Event ${String(this.#block).padStart(4, '0')}/${String(number).padStart(6, '0')}`;
  }
}

function now(): number {
  return Number(process.hrtime.bigint());
}
