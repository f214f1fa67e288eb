import { existsSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { findTagged } from './test/support/run/find-tagged.ts';
import { LongestFirst } from './test/support/run/longest-first.ts';

const memory = '/dev/shm';
const minFreeBytes = 2 ** 31;

/** Databases of tests are stored in memory if there is enough, so that commits do not wait for a disk. */
function findTemporaryFolder(): Record<string, string> {
  if (!existsSync(memory)) return {};
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < minFreeBytes ? {} : { TMPDIR: memory };
}

export default defineConfig({
  resolve: {
    alias: {
      // As the server resolves it for extensions.
      '@postroom/server/extension': new URL('src/extension.ts', import.meta.url).pathname,
      // Their sources: the packages themselves are built for other programs.
      '@postroom/client': new URL('packages/client/src/index.ts', import.meta.url).pathname,
      '@postroom/extension-test': new URL('packages/extension-test/src/index.ts', import.meta.url).pathname,
    },
  },
  // Without `development`: one graphql for the tests and for the packages that Node loads itself.
  ssr: { resolve: { conditions: ['module', 'node'] } },
  test: {
    include: ['test/**/*.test.ts', 'examples/extensions/*/*.test.ts'],
    // Those run apart: npm run test:soak, and npm run test:postgres.
    exclude: ['test/soak/**', ...findTagged('// Runs on PostgreSQL.')],
    globalSetup: 'test/support/run/bundle.ts',
    env: findTemporaryFolder(),
    pool: 'forks',
    // The files of a worker share its modules: loading them for each file took as long as the tests.
    isolate: false,
    // A test waits for more than half of its time.
    maxWorkers: 7,
    sequence: { sequencer: LongestFirst },
    // They only end what hangs: on a busy machine a test takes many times as long.
    testTimeout: 240_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 240_000,
  },
});
