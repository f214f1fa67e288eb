import { afterAll, beforeAll } from 'vitest';

/** Keeps the unhandled rejections of this file's tests from the runner: the tests look at them themselves. */
export function collectUnhandledRejections(): { readonly reasons: unknown[]; clear(): void } {
  const reasons: unknown[] = [];
  const collect = (reason: unknown) => void reasons.push(reason);
  let others: NodeJS.UnhandledRejectionListener[] = [];
  beforeAll(() => {
    others = process.listeners('unhandledRejection');
    process.removeAllListeners('unhandledRejection').on('unhandledRejection', collect);
  });
  afterAll(() => {
    process.off('unhandledRejection', collect);
    for (const other of others) process.on('unhandledRejection', other);
  });
  return {
    reasons,
    clear() {
      reasons.length = 0;
    },
  };
}
