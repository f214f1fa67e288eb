import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first.ts';

export default defineConfig({
  // Without `development`: one graphql for the tests and for the packages that Node loads itself.
  ssr: { resolve: { conditions: ['module', 'node'] } },
  test: {
    include: ['test/**/*.test.ts'],
    // Those run apart: npm run test:soak.
    exclude: ['test/soak/**'],
    globalSetup: 'test/support/bundle-packages.ts',
    pool: 'forks',
    // The files of a worker share its modules: loading them for each file took as long as the tests.
    isolate: false,
    // A test waits for about half of its time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    testTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
    hookTimeout: 60_000,
  },
});
