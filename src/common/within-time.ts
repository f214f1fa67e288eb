/**
 * Settles as `work` does or, if that takes longer, as `onLate` does, which is called then. The timer keeps the process alive:
 * what the work waits for may not.
 */
export async function withinTime<T>(ms: number, work: Promise<T>, onLate: () => T | Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<T>();
  const settleLate = async () => onLate();
  const timer = setTimeout(() => resolve(settleLate()), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
