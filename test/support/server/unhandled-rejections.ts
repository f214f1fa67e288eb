import { afterAll, beforeAll } from 'vitest';

/**
 * Collects the unhandled rejections of this file's tests, so that the tests check them and the runner does not fail.
 */
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
