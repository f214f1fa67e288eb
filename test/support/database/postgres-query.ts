import { Client, type QueryResult, type QueryResultRow } from 'pg';

/** Runs statements on a connection of their own, and returns the rows of the last one. Only a single one can have values. */
export async function query<Row extends QueryResultRow = Record<string, unknown>>(
  url: string,
  sql: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const results: QueryResult<Row> | QueryResult<Row>[] = await client.query(sql, values);
    return [results].flat().at(-1)?.rows ?? [];
  } finally {
    await client.end().catch(() => {});
  }
}
