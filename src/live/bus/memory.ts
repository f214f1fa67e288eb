import { type Bus, type BusListener, topicOf } from './bus.ts';

/** A bus within one process. */
export function createMemoryBus(): Bus {
  const listeners = new Map<string, Set<BusListener>>();
  return {
    publish(message) {
      for (const listener of listeners.get(topicOf(message)) ?? []) listener(message);
    },
    async subscribe(topic, listener) {
      const known = listeners.get(topic) ?? new Set();
      listeners.set(topic, known.add(listener));
      return () => {
        known.delete(listener);
        if (known.size === 0 && listeners.get(topic) === known) listeners.delete(topic);
      };
    },
    listenerCount: () => listeners.values().reduce((count, { size }) => count + size, 0),
    close: async () => listeners.clear(),
  };
}
