import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** Tests of `npm test` that run again with larger numbers or other seeds, because each repetition can find more. */
function findRepeated(): string[] {
  return globSync('test/*/*.test.ts').filter((file) => readFileSync(file, 'utf8').includes('/support/run/soak.ts'));
}

/** Tests that take long by nature: load, memory, repeated crashes. Each measures its own process only. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    include: ['test/soak/*/*.test.ts', ...findRepeated()],
    env: { ...common.test?.env, SOAK: 'true' },
    exclude: [],
    maxWorkers: 3,
    // It only ends a test that hangs: no test is bounded by the speed of the machine.
    testTimeout: 900_000,
  },
});
