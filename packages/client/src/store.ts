import { callSafely } from './sink.ts';

/** A value that changes: for `useSyncExternalStore` of React, and for any other framework. */
export interface Store<Value> {
  get: () => Value;
  /** Calls `listener` after each change, until the result is called. The work of a store lasts as long as it has listeners. */
  subscribe: (listener: () => void) => () => void;
}

/**
 * `start` is called with the first listener, and its result after the last one was removed; the value remains. `update`
 * replaces properties of the value.
 */
export function createStore<Value extends object>(
  initial: Value,
  start: (update: (change: Partial<Value>) => void) => () => void = () => () => {},
): Store<Value> & { update: (change: Partial<Value>) => void } {
  let value = initial;
  let stop = () => {};
  const listeners = new Set<() => void>();
  const update = (change: Partial<Value>) => {
    value = { ...value, ...change };
    for (const listener of listeners) callSafely(listener);
  };
  return {
    get: () => value,
    subscribe: (listener) => {
      // Each call counts, also with the same function.
      const own = () => listener();
      listeners.add(own);
      if (listeners.size === 1) stop = start(update);
      return () => {
        if (listeners.delete(own) && listeners.size === 0) stop();
      };
    },
    update,
  };
}
