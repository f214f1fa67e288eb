import { defineConfig } from 'vitest/config';
import { postgresPrograms } from './test/support/postgres-cluster.ts';
import common from './vitest.config.ts';

/** Tests of `npm test` that do not run on PostgreSQL, and why. */
const excluded = {
  'api-start': 'files and folders of SQLite',
  'execution*': 'the executor, on a database of its own',
  erasure: 'files of SQLite',
  'event-loop': 'the threads of SQLite',
  'long-reads': 'the threads of SQLite',
  cluster: 'starts its own servers',
  containers: 'does not use a database',
  'earlier-tables': 'starts its own servers',
  'npm-start': 'starts its own server',
  'rate-shared': 'does not use the database',
  'query-plans': 'the plans of SQLite; those of PostgreSQL are in postgres-plans',
  'storage-*': 'files, locks and disks of SQLite',
  // Those that start their own servers, or compare both databases, already run in `npm test`.
  ...(postgresPrograms && { 'postgres-*': 'runs in npm test' }),
};

/** The same tests as `npm test`, on PostgreSQL instead of SQLite. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    // Without PostgreSQL only tests run that are skipped and say why.
    include: [postgresPrograms ? 'test/**/*.test.ts' : 'test/postgres-*.test.ts'],
    exclude: ['test/soak/**', ...Object.keys(excluded).map((name) => `test/${name}.test.ts`)],
    globalSetup: ['test/support/bundle-packages.ts', 'test/support/start-postgres.ts'],
  },
});
