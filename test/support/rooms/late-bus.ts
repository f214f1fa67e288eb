import { type Bus, commonTopic, topicOf } from '../../../src/live/bus/bus.ts';
import { createMemoryBus } from '../../../src/live/bus/memory.ts';

/** A slow bus: a subscription to a room takes effect after the next message. */
export function createLateBus(): Bus {
  const bus = createMemoryBus();
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  return {
    ...bus,
    publish(message) {
      bus.publish(message);
      waiting.get(topicOf(message))?.resolve();
    },
    async subscribe(topic, listener) {
      if (topic === commonTopic) return bus.subscribe(topic, listener);
      const missed = waiting.get(topic) ?? Promise.withResolvers<void>();
      waiting.set(topic, missed);
      await missed.promise;
      return bus.subscribe(topic, listener);
    },
  };
}
