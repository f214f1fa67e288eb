import { type Bus, type BusListener, topicOf } from './bus.ts';

/** A bus within one process. */
export function createMemoryBus(): Bus {
  const listeners = new Map<string, Set<BusListener>>();
  return {
    publish(message) {
      for (const listener of listeners.get(topicOf(message)) ?? []) listener(message);
    },
    async subscribe(topic, listener) {
      const ofTopic = listeners.get(topic) ?? new Set();
      listeners.set(topic, ofTopic.add(listener));
      return () => {
        ofTopic.delete(listener);
        if (ofTopic.size === 0 && listeners.get(topic) === ofTopic) listeners.delete(topic);
      };
    },
    listenerCount: () => listeners.values().reduce((count, { size }) => count + size, 0),
    close: async () => listeners.clear(),
  };
}
