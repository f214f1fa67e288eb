import type { Table } from '../support/table.ts';
import { describe, measureDisruption } from './disruption.ts';
import type { Run } from './run.ts';

/** A restart of the server; workers are replaced one after the other. */
export async function restart({ servers, clients = 5_000 }: Run): Promise<Table> {
  const rows = [];
  for (const { title, start } of servers) {
    const server = await start();
    try {
      rows.push({ server: title, ...describe(await measureDisruption(server, clients, () => server.restart())) });
    } finally {
      await server.stop();
    }
  }
  return {
    title: 'A restart',
    about: `${clients} clients of one stream, 2 messages per second. SIGTERM, and a new start when the server has ended; SIGUSR2 for workers.`,
    rows,
  };
}
