import { EventEmitter } from 'node:events';
import { contain } from '../../common/contain.ts';
import { type Bus, BusCounts, type BusListener, type BusMessage, type BusOptions, topicOf } from './bus.ts';

/** The listeners of this process, by topic. */
type Listeners = EventEmitter<Record<string, [BusMessage]>>;

export function createListeners(): Listeners {
  const listeners: Listeners = new EventEmitter();
  return listeners.setMaxListeners(0);
}

export function countListeners(listeners: Listeners): number {
  return listeners.eventNames().reduce((count, topic) => count + listeners.listenerCount(topic), 0);
}

/** The error of the listener does not keep a message from the others. The result removes the listener. */
export function addListener(
  listeners: Listeners,
  topic: string,
  listener: BusListener,
  onError: (error: unknown) => void,
): () => void {
  // A function of its own, because the same listener may be added twice.
  const contained = contain(listener, onError);
  listeners.on(topic, contained);
  return () => void listeners.off(topic, contained);
}

/** A bus within one process. Without options, the error of a listener is an unhandled rejection. */
export function createMemoryBus({ onError }: BusOptions = { onError: (error) => void Promise.reject(error) }): Bus {
  const listeners = createListeners();
  const counts = new BusCounts();
  return {
    kind: 'memory',
    counts,
    waitingCount: () => 0,
    hasBacklog: () => false,
    publish(message) {
      counts.published += 1;
      listeners.emit(topicOf(message), message);
    },
    subscribe: async (topic, listener) => addListener(listeners, topic, listener, onError),
    listenerCount: () => countListeners(listeners),
    isUp: () => true,
    onStateChange: () => {},
    close: async () => void listeners.removeAllListeners(),
  };
}
