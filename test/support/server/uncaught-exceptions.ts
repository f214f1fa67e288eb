import { afterAll, beforeAll, beforeEach } from 'vitest';

/** Collects the uncaught exceptions of each test of this file, so that the tests check them and the runner does not fail. */
export function collectUncaughtExceptions(): { readonly messages: string[] } {
  const messages: string[] = [];
  const collect = (error: Error) => void messages.push(error.message);
  let others: NodeJS.UncaughtExceptionListener[] = [];
  beforeAll(() => {
    others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException').on('uncaughtException', collect);
  });
  beforeEach(() => {
    messages.length = 0;
  });
  afterAll(() => {
    process.off('uncaughtException', collect);
    for (const other of others) process.on('uncaughtException', other);
  });
  return { messages };
}
