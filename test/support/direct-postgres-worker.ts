import { type MessagePort, workerData } from 'node:worker_threads';
import { Client, types } from 'pg';

/* Runs statements for a thread that waits for each answer. */

const { url, port, flag } = workerData as { url: string; port: MessagePort; flag: Int32Array };
types.setTypeParser(types.builtins.INT8, Number);
const client = new Client(url);
await client.connect();
port.on('message', async ({ sql, values }: { sql: string; values: unknown[] | undefined }) => {
  try {
    const result = await client.query(sql, values);
    port.postMessage({ rows: result.rows });
  } catch (error) {
    port.postMessage({ error: String(error) });
  }
  Atomics.store(flag, 0, 1);
  Atomics.notify(flag, 0);
});
