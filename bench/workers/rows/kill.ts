import { type Disruption, describe, measureDisruption } from '../../reconnects/disruption.ts';
import { startPostroom } from '../../reconnects/servers.ts';
import type { TableWithTargets } from '../../support/table.ts';
import type { Run } from '../run.ts';

/** A worker that is killed. */
export async function kill({ counts, rounds, clients = 1_000 }: Run): Promise<TableWithTargets> {
  const workers = counts.at(-1) ?? 2;
  const disruptions: Disruption[] = [];
  while (disruptions.length < rounds) {
    const server = await startPostroom(workers);
    const killWorker = () => void process.kill(server.postroom.workers[0] ?? Number.NaN, 'SIGKILL');
    try {
      disruptions.push(await measureDisruption(server, clients, killWorker));
    } finally {
      await server.stop();
    }
  }
  return {
    title: 'kill -9 of a worker',
    about: `WORKERS=${workers}, ${clients} clients of @postroom/client in one room, 2 posts per second, one round in each row.`,
    rows: disruptions.map(describe),
    targets: [
      { name: 'all clients back, s', ratios: disruptions.map(({ backMs }) => Math.max(...backMs) / 1_000), atMost: 5 },
      { name: 'lost', ratios: disruptions.map(({ lost }) => lost), atMost: 0 },
      { name: 'repeated', ratios: disruptions.map(({ repeated }) => repeated), atMost: 0 },
    ],
  };
}
