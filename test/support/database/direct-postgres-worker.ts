import { type MessagePort, workerData } from 'node:worker_threads';
import { Client, types } from 'pg';

/* Runs statements for a thread that waits for each answer. */

interface Statement {
  number: number;
  url: string;
  sql: string;
  values: unknown[] | undefined;
}

const { port, answered } = workerData as { port: MessagePort; answered: Int32Array };
types.setTypeParser(types.builtins.INT8, Number);
let latest: { url: string; client: Client } | undefined;

async function connect(url: string): Promise<Client> {
  if (latest?.url === url) return latest.client;
  void latest?.client.end();
  const client = new Client(url);
  // Its database is deleted at the end of a test.
  client.on('error', () => {
    latest = undefined;
  });
  await client.connect();
  latest = { url, client };
  return client;
}

port.on('message', async ({ number, url, sql, values }: Statement) => {
  try {
    const client = await connect(url);
    const { rows } = await client.query(sql, values);
    port.postMessage({ number, rows });
  } catch (error) {
    port.postMessage({ number, error: String(error) });
  }
  Atomics.store(answered, 0, number);
  Atomics.notify(answered, 0);
});
