import { globSync, readFileSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { postgresPrograms } from './test/support/database/postgres-cluster.ts';
import common from './vitest.config.ts';

/** The first line of the test files that depend on the database: its statements, locks, errors, order and transactions. */
const tag = '// Runs on SQLite and on PostgreSQL.';

function findTagged(): string[] {
  return globSync('test/*/*.test.ts').filter((file) => readFileSync(file, 'utf8').startsWith(tag));
}

/** The tests of `npm test` that have the tag, on PostgreSQL instead of SQLite. */
export default defineConfig({
  ...common,
  test: {
    ...common.test,
    // Without PostgreSQL only tests run that are skipped and say why.
    include: postgresPrograms ? findTagged() : ['test/database/postgres-*.test.ts'],
    globalSetup: ['test/support/run/bundle-packages.ts', 'test/support/database/start-postgres.ts'],
  },
});
