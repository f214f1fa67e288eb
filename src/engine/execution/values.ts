/* Helpers for the values that a resolver may return: a value, a promise of a value, or a list of either. */

/** The remaining values of an iterator. */
export function* rest(iterator: Iterator<unknown>): Generator<unknown> {
  try {
    for (let next = iterator.next(); !next.done; next = iterator.next()) yield next.value;
  } catch {
    // The iterator failed before, and the first error is the one reported.
  }
}

/** Prevents unhandled rejections of values that are no longer awaited. */
export function ignoreRejections(values: Iterable<unknown>): void {
  for (const value of values) if (isPromiseLike(value)) value.then(ignore, ignore);
}

function ignore(): void {}

/** Whether a value is present and final: not a function, an error or a promise. */
export function isSettled(value: unknown): boolean {
  return value != null && typeof value !== 'function' && !(value instanceof Error) && !isPromiseLike(value);
}

export function isPromise(value: unknown): value is Promise<unknown> {
  return value instanceof Promise;
}

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return value != null && typeof (value as { then?: unknown }).then === 'function';
}

export function isIterable(value: unknown): value is Iterable<unknown> {
  return typeof value === 'object' && typeof (value as Partial<Iterable<unknown>>)[Symbol.iterator] === 'function';
}

export function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof (value as Partial<AsyncIterable<unknown>>)[Symbol.asyncIterator] === 'function';
}
