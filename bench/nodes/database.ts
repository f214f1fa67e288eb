import { Client } from 'pg';

const server = process.env['BENCH_POSTGRES'] ?? 'postgres://postgres@127.0.0.1';

/** Creates an empty database for one run; `drop` deletes it. */
export async function createBenchDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `postroom_bench_${process.pid}`;
  const run = async (statement: string) => {
    const client = new Client(`${server}/postgres`);
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await run(`create database ${name}`);
  return { url: `${server}/${name}`, drop: () => run(`drop database ${name} with (force)`) };
}
