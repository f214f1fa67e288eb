import { defineConfig } from 'vitest/config';
import { postgresPrograms } from './test/support/database/postgres-cluster.ts';
import { findTagged } from './test/support/run/find-tagged.ts';
import common from './vitest.config.ts';

/**
 * The tests of PostgreSQL alone, and those of `npm test` that depend on the database: its statements, locks, errors, order
 * and transactions.
 */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    // Without PostgreSQL only tests run that are skipped and say why.
    include: [
      ...findTagged('// Runs on PostgreSQL.'),
      ...(postgresPrograms ? findTagged('// Runs on SQLite and on PostgreSQL.') : []),
    ],
    exclude: [],
    globalSetup: ['test/support/run/bundle.ts', 'test/support/database/start-postgres.ts'],
  },
});
