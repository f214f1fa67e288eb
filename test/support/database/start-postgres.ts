import { openDatabase } from '../../../src/data/database/open-database.ts';
import { PostgresCluster, postgresPrograms } from './postgres-cluster.ts';

/* The global setup of `npm run test:postgres`: one server for all tests, with a database from which others are copied. */

export const template = 'template_of_tests';

export default async function startPostgres(): Promise<(() => Promise<void>) | undefined> {
  if (postgresPrograms === undefined) return undefined;
  const cluster = await PostgresCluster.start();
  process.env['TEST_POSTGRES'] = cluster.url('');
  // Where tests of extensions create databases.
  process.env['POSTGRES_URL'] = cluster.url('postgres');
  await cluster.query('postgres', `create database ${template}`);
  await (await openDatabase(cluster.url(template))).close();
  return () => cluster.remove();
}
