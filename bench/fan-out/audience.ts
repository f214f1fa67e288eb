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

const roomsPerRequest = 25;
const requestsAtOnce = 2;
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
  #rooms: string[] = [];
  #emptyRooms: string[] = [];
  #block = 0;

  private constructor(contestant: Contestant, options: AudienceOptions) {
    this.contestant = contestant;
    this.#options = options;
    this.title = titles[options.name];
    this.size = options.size * (options.rooms ?? 1);
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
    const seats = this.#rooms.flatMap((room) =>
      Array.from({ length: size }, (_, index): Seat => {
        return { room, query: isGraphQL ? queries[Math.floor((index * queries.length) / size)] : undefined };
      }),
    );
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
   * Two events with subscribers, two without, and so on: in both kinds one event in two comes behind deliveries, which
   * leave the processor's caches cold, so that what is left between the kinds are the deliveries.
   */
  async measureCost(events: number): Promise<Cost> {
    const pairs = Math.ceil(events / 2);
    const used = { watched: 0, empty: 0 };
    await this.#begin(pairs * 2);
    for (let pair = 0; pair < pairs; pair += 1) {
      const before = await this.#cpuMicros();
      for (const number of [1, 2]) await this.#playEvent(pair * 2 + number);
      const between = await this.#cpuMicros();
      for (const number of [1, 2]) await this.#publish(this.#emptyRooms, this.#name(pair * 2 + number));
      used.watched += between - before;
      used.empty += (await this.#cpuMicros()) - between;
    }
    await this.#check(pairs * 2);
    return {
      microsPerDelivery: (used.watched - used.empty) / (pairs * 2 * this.size),
      microsPerEvent: used.empty / (pairs * 2 * this.#emptyRooms.length),
    };
  }

  async measureLatency(events: number): Promise<Latency[]> {
    const latencies: Latency[] = [];
    await this.#begin(events);
    for (let number = 1; number <= events; number += 1) latencies.push(await this.#playEvent(number));
    await this.#check(events);
    return latencies;
  }

  async #createRooms(): Promise<void> {
    const { rooms = 1 } = this.#options;
    const all = await this.contestant.createRooms(rooms * 2);
    this.#rooms = all.slice(0, rooms);
    this.#emptyRooms = all.slice(rooms);
  }

  /** Not every protocol tells when a subscription is live: events show it. */
  async #settle(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      await this.#begin(1);
      await this.#playEvent(1, settlingMs);
      const isComplete = await this.#check(1).then(
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
    await this.#load.count(this.size, events);
  }

  /** An event in every room; returns when all subscribers have got it, or patience ends. */
  async #playEvent(number: number, patience = patienceMs): Promise<Latency> {
    const arrival = this.#load.step(AbortSignal.timeout(patience)).catch(() => Number.NaN);
    const sent = now();
    await this.#publish(this.#rooms, this.#name(number));
    const answered = now();
    const arrived = await arrival;
    return { fromRequest: (arrived - sent) / 1e6, fromResponse: (arrived - answered) / 1e6 };
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

  /** An event in each room, of several rooms in one request. */
  async #publish(rooms: readonly string[], title: string): Promise<void> {
    const starts = Array.from({ length: Math.ceil(rooms.length / roomsPerRequest) }, (_, index) => index).values();
    const workers = Array.from({ length: Math.min(requestsAtOnce, rooms.length) }, async () => {
      for (const index of starts) {
        const from = index * roomsPerRequest;
        await this.contestant.publish(rooms.slice(from, from + roomsPerRequest), title);
      }
    });
    await Promise.all(workers);
  }
}

function now(): number {
  return Number(process.hrtime.bigint());
}
