import { defineConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** Tests that take long by nature: load, memory, repeated crashes. One file after the other, so that none measures another. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    include: ['test/soak/**/*.test.ts', 'test/live-resume.test.ts'],
    env: { SOAK: 'true' },
    exclude: [],
    fileParallelism: false,
    testTimeout: 120_000,
  },
});
