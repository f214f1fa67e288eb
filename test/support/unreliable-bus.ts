import type { Bus, BusMessage } from '../../src/live/bus/bus.ts';

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** How a bus fails: each is given the messages that are published, and publishes what becomes of them. */
export const busFaults = {
  none: (bus) => (message) => bus.publish(message),
  /** Every message is lost. */
  deaf: () => () => {},
  /** Of ten messages three are lost, two come at once, two come twice and three behind later ones. */
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
  /** Before and behind each message come others of the same room that nobody sent. */
  strange: (bus) => (message) => {
    const invent = () => {
      if (message.type !== 'roomChanged') return;
      for (const seq of [0, 1, message.event.seq + 7, 1_000_000]) {
        bus.publish({ ...message, event: { ...message.event, seq } });
      }
    };
    invent();
    bus.publish(message);
    invent();
  },
} as const satisfies Record<string, (bus: Bus, random: () => number) => (message: BusMessage) => void>;

export type BusFault = keyof typeof busFaults;

const maxHeld = 20;
