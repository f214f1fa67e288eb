import { setTimeout as sleep } from 'node:timers/promises';

/** An attack that waits for a dead server must end, so that every wait has an end. */
export const patienceMs = 15_000;

/** @throws Error when `promise` takes longer. */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Checks again and again until it is true; false when it never was. */
export async function until(timeoutMs: number, check: () => boolean | Promise<boolean>): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    if (await check()) return true;
    if (performance.now() > end) return false;
    await sleep(25);
  }
}

export { sleep };
