import { EventEmitter } from 'node:events';

/** Takes the exception of some work: logs it once, and ends what the work was for. Never throws. */
export type Fail = (error: unknown) => void;

/** A connection or a request, which ends with the first exception in its work. */
export interface Failing {
  fail: Fail;
}

/** A callback whose exception or rejection is passed to `fail` instead of ending the process. */
export function contain<Values extends unknown[]>(
  work: (...values: Values) => unknown,
  fail: Fail,
): (...values: Values) => void {
  return (...values) => {
    try {
      const done = work(...values);
      if (done instanceof Promise) done.catch(fail);
    } catch (error) {
      fail(error);
    }
  };
}

/** Does work for a connection or a request, which fails with its exception or rejection. */
export function containOne<T extends Failing, V>(item: T, work: (item: T, value: V) => unknown, value: V): void {
  try {
    const done = work(item, value);
    if (done instanceof Promise) done.catch((error) => item.fail(error));
  } catch (error) {
    item.fail(error);
  }
}

/** Does work for each of many connections: one that fails does not stop the others. */
export function containEach<Item extends Failing>(items: Iterable<Item>, work: (item: Item) => void): void {
  for (const item of items) containOne(item, work, undefined);
}

const { emit } = EventEmitter.prototype;

/**
 * An `emit` that passes the exceptions of listeners to `fail`. It replaces that of each emitter of a client, so that no
 * listener, whoever adds it, can end the process. Listeners of `close` release what they hold, so each of them runs.
 */
export function containedEmit<Emitter extends EventEmitter>(
  fail: (emitter: Emitter, error: unknown, values: readonly unknown[]) => void,
): EventEmitter['emit'] {
  return function emitContained(this: Emitter, event: string | symbol, ...values: unknown[]): boolean {
    if (event === 'close') return callEach(this.rawListeners(event), this, values);
    try {
      return emit.call(this, event, ...values);
    } catch (error) {
      fail(this, error, values);
      return true;
    }
  };
  function callEach(
    listeners: ReturnType<EventEmitter['rawListeners']>,
    emitter: Emitter,
    values: readonly unknown[],
  ): boolean {
    for (const listener of listeners) {
      try {
        listener.call(emitter, ...values);
      } catch (error) {
        fail(emitter, error, values);
      }
    }
    return listeners.length > 0;
  }
}
