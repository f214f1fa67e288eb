import { type Bus, type BusListener, type BusMessage, type BusOptions, createBusCounts, topicOf } from './bus.ts';

/** The listeners of this process, by topic. */
export class Listeners {
  readonly #byTopic = new Map<string, Set<BusListener>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get count(): number {
    return this.#byTopic.values().reduce((count, { size }) => count + size, 0);
  }

  get topics(): string[] {
    return [...this.#byTopic.keys()];
  }

  has(topic: string): boolean {
    return this.#byTopic.has(topic);
  }

  /** The result removes the listener, and returns whether it was the last of its topic. */
  add(topic: string, listener: BusListener): () => boolean {
    // An entry of its own, because the same function may listen twice.
    const entry: BusListener = (message) => listener(message);
    const ofTopic = this.#byTopic.get(topic) ?? new Set();
    this.#byTopic.set(topic, ofTopic.add(entry));
    return () => {
      if (!ofTopic.delete(entry) || ofTopic.size > 0 || this.#byTopic.get(topic) !== ofTopic) return false;
      return this.#byTopic.delete(topic);
    };
  }

  /** Never throws: the error of a listener does not keep the message from the others. */
  deliver(message: BusMessage): void {
    for (const listener of this.#byTopic.get(topicOf(message)) ?? []) {
      try {
        listener(message);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  clear(): void {
    this.#byTopic.clear();
  }
}

/** A bus within one process. Without options, the error of a listener is an unhandled rejection. */
export function createMemoryBus({ onError }: BusOptions = { onError: (error) => void Promise.reject(error) }): Bus {
  const listeners = new Listeners(onError);
  const counts = createBusCounts();
  return {
    kind: 'memory',
    counts,
    waitingCount: () => 0,
    hasBacklog: () => false,
    publish(message) {
      counts.published += 1;
      listeners.deliver(message);
    },
    async subscribe(topic, listener) {
      const remove = listeners.add(topic, listener);
      return () => void remove();
    },
    listenerCount: () => listeners.count,
    isUp: () => true,
    onStateChange: () => {},
    close: async () => listeners.clear(),
  };
}
