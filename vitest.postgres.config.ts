import { defineConfig } from 'vitest/config';
import common from './vitest.config.ts';

/** Tests of `npm test` that do not run on PostgreSQL, and why. */
const excluded = {
  'api-start': 'files and folders of SQLite',
  erasure: 'files of SQLite',
  'query-plans': 'the plans of SQLite; those of PostgreSQL are in postgres-plans',
  'storage-*': 'files, locks and disks of SQLite',
};

/** The same tests as `npm test`, on PostgreSQL instead of SQLite. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    exclude: ['test/soak/**', 'test/postgres-*', ...Object.keys(excluded).map((name) => `test/${name}.test.ts`)],
    globalSetup: ['test/support/bundle-packages.ts', 'test/support/start-postgres.ts'],
  },
});
