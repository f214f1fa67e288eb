import { type Bus, type BusOptions, createBusCounts } from './bus.ts';
import { Listeners } from './listeners.ts';

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
