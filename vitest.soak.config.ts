import { defineConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** Tests of `npm test` that run again with larger numbers or other seeds, because each repetition can find more. */
const repeated = [
  'execution-differential',
  'live-cursor-mutation',
  'live-faults-bus',
  'live-resume',
  'storage-power-loss',
  'storage-restore-crash',
];

/** Tests that take long by nature: load, memory, repeated crashes. One file after the other, so that none measures another. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    include: ['test/soak/**/*.test.ts', ...repeated.map((name) => `test/${name}.test.ts`)],
    env: { ...common.test?.env, SOAK: 'true' },
    exclude: [],
    fileParallelism: false,
    testTimeout: 120_000,
  },
});
