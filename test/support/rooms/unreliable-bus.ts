import { Random } from '../../../simulation/random.ts';
import type { Bus, BusMessage } from '../../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../../src/live/bus/memory.ts';

/** Numbers from 0 to 1 that depend on the seed only. */
export function createRandom(seed: number): () => number {
  const random = new Random(seed);
  return () => random.next();
}

type Publisher = Pick<Bus, 'publish'>;

/** The faults of a bus. Each receives the published messages and decides which messages the bus delivers. */
const busFaults = {
  none: (bus) => (message) => bus.publish(message),
  /** Drops every message. */
  losesAll: () => () => {},
  /**
   * Of ten messages three are lost, two are delivered at once, two are delivered twice and three after later messages.
   */
  unreliable(bus, random) {
    const held: BusMessage[] = [];
    const release = () => {
      while (held.length > maxHeld || (held.length > 0 && random() < 0.3)) {
        const [message] = held.splice(Math.floor(random() * held.length), 1);
        if (message) bus.publish(message);
      }
    };
    return (message) => {
      const chance = random();
      if (chance >= 0.3 && chance < 0.7) bus.publish(message);
      if (chance >= 0.5) held.push(message);
      release();
    };
  },
  /** Before and after each message the bus delivers messages of the same room that were never published, with other numbers. */
  forges: (bus) => (message) => {
    const publishForged = () => {
      if (message.type !== 'roomChanged') return;
      for (const seq of [0, 1, message.event.seq + 7, 1_000_000]) {
        bus.publish({ ...message, event: { ...message.event, seq } });
      }
    };
    publishForged();
    bus.publish(message);
    publishForged();
  },
} as const satisfies Record<string, (bus: Publisher, random: () => number) => (message: BusMessage) => void>;

export type BusFault = keyof typeof busFaults;

const maxHeld = 20;

/** A bus within one process that has the given fault. */
export function createUnreliableBus(fault: BusFault, seed = 1): Bus {
  const bus = createMemoryBus();
  return { ...bus, publish: busFaults[fault](bus, createRandom(seed)) };
}

/** Two buses of which each passes its messages to the other with the given fault, as between two processes. */
export function createUnreliablePair(fault: BusFault, seed = 1): [Bus, Bus] {
  const random = createRandom(seed);
  const [one, other] = [createMemoryBus(), createMemoryBus()];
  const join = (near: Bus, far: Bus): Bus => {
    const pass = busFaults[fault]({ publish: (message) => far.publish(structuredClone(message)) }, random);
    return {
      ...near,
      publish(message) {
        near.publish(message);
        pass(message);
      },
    };
  };
  return [join(one, other), join(other, one)];
}
