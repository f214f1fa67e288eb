import type { BusConnection, BusDriver, ConnectionHandlers } from '../src/live/bus/checked-connection.ts';
import type { Faults } from './faults.ts';
import type { Owner, Scheduler } from './scheduler.ts';

interface Connected {
  owner: Owner;
  topics: Set<string>;
  handlers: ConnectionHandlers;
  isLost: boolean;
}

/** The server of the bus: it passes messages between nodes, and loses, repeats and delays them. */
export class BusServer {
  readonly #scheduler: Scheduler;
  readonly #faults: Faults;
  readonly #connected = new Set<Connected>();
  #isDown = false;

  constructor(scheduler: Scheduler, faults: Faults) {
    this.#scheduler = scheduler;
    this.#faults = faults;
  }

  /** The way of one node to it. */
  driverFor(owner: Owner): BusDriver {
    return {
      kind: 'redis',
      maxMessageBytes: 2 ** 16,
      maxInFlight: 4,
      connect: (handlers, signal) => this.#connect(owner, handlers, signal),
    };
  }

  /** What the nodes follow. */
  topics(): string[] {
    return [...this.#connected].flatMap(({ topics }) => [...topics]);
  }

  stop(): void {
    this.#isDown = true;
    for (const connected of this.#connected) this.#lose(connected);
  }

  start(): void {
    this.#isDown = false;
  }

  /** The node was killed. */
  forget(owner: Owner): void {
    for (const connected of this.#connected) if (connected.owner === owner) this.#connected.delete(connected);
  }

  async #connect(owner: Owner, handlers: ConnectionHandlers, signal: AbortSignal): Promise<BusConnection> {
    const connected: Connected = { owner, topics: new Set(), handlers, isLost: false };
    signal.addEventListener('abort', () => this.#connected.delete(connected));
    await this.#travel();
    this.#assertUp(connected);
    if (!signal.aborted) this.#connected.add(connected);
    return {
      send: async (batch) => {
        await this.#travel();
        this.#assertUp(connected);
        for (const message of batch) this.#pass(message);
        await this.#travel();
        this.#assertUp(connected);
      },
      subscribe: async (topics) => {
        await this.#travel();
        this.#assertUp(connected);
        for (const topic of topics) connected.topics.add(topic);
        await this.#travel();
      },
      unsubscribe: async (topic) => {
        await this.#travel();
        connected.topics.delete(topic);
      },
    };
  }

  #pass({ topic, text }: { topic: string; text: string }): void {
    for (const connected of this.#connected) {
      if (!connected.topics.has(topic) || this.#faults.happens('busLoses')) continue;
      const copies = this.#faults.happens('busRepeats') ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) this.#deliver(connected, text);
    }
  }

  #deliver(connected: Connected, text: string): void {
    const { random } = this.#scheduler;
    const delay = this.#faults.happens('busDelays') ? random.between(0, 3_000) : random.between(0.1, 2);
    const receive = () => {
      if (this.#connected.has(connected)) connected.handlers.receive(text);
    };
    this.#scheduler.after(delay, receive, connected.owner);
  }

  #lose(connected: Connected): void {
    connected.isLost = true;
    this.#connected.delete(connected);
    const report = () => connected.handlers.onLost(new Error('the connection was closed'));
    this.#scheduler.after(this.#scheduler.random.between(0, 5), report, connected.owner);
  }

  #assertUp(connected: Connected): void {
    if (this.#isDown || connected.isLost) throw new Error('the server is down');
  }

  #travel(): Promise<void> {
    return this.#scheduler.delay(this.#scheduler.random.between(0.05, 1));
  }
}
