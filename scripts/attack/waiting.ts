import { setTimeout as sleep } from 'node:timers/promises';

/** The timeout of every wait, so that an attack on a dead server ends. */
export const defaultTimeoutMs = 15_000;

/** @throws Error when `promise` takes longer than `timeoutMs`. */
export async function within<T>(timeoutMs: number, what: string, promise: Promise<T>): Promise<T> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${what} took longer than ${timeoutMs} ms`)), timeoutMs);
  try {
    return await Promise.race([promise, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}

/** Polls `check` until it returns true. Returns false after `timeoutMs`. */
export async function until(timeoutMs: number, check: () => boolean | Promise<boolean>): Promise<boolean> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    if (await check()) return true;
    if (performance.now() > end) return false;
    await sleep(25);
  }
}

export { sleep };
