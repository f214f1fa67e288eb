import type { Table } from '../support/table.ts';
import { Clients } from './clients.ts';
import type { Milliseconds } from './milliseconds.ts';
import { Publisher, publishEveryMs } from './publisher.ts';
import type { Run } from './run.ts';
import type { Running } from './servers.ts';

const offlineMs = 2_000;

/** Clients whose connections are lost about every 15 s. */
export async function cuts({ servers, clients = 2_000, seconds = 60 }: Run): Promise<Table> {
  const rows = [];
  for (const { title, start } of servers)
    rows.push({ server: title, ...(await measure(await start(), clients, seconds)) });
  return {
    title: 'Connections that are lost',
    about: `${clients} clients of one stream, ${(seconds * 1_000) / publishEveryMs} messages at 2 per second. Each connection is ended about every 15 s and opened again after 2 s.`,
    rows,
  };
}

async function measure(server: Running, count: number, seconds: number): Promise<Record<string, string>> {
  const messages = (seconds * 1_000) / publishEveryMs;
  const clients = await Clients.connect(server, count, { offlineMs, maxMessages: messages + 1 });
  try {
    const publisher = new Publisher(server);
    const before = { server: server.cpuMicros(), clients: (await clients.report([])).cpuMicros };
    await clients.setCutting(true);
    await publisher.publish(messages);
    await clients.setCutting(false);
    await clients.waitUntilReceived(messages * count);
    const report = await clients.report(publisher.confirmed);
    const all = publisher.confirmed.length * count;
    const share = (received: number, of: number) => `${((100 * received) / of).toFixed(3)} %`;
    return {
      received: share(all - report.lost, all),
      'least of a client': share(report.fewest, publisher.confirmed.length),
      lost: String(report.lost),
      repeated: String(report.repeated),
      cuts: String(report.cuts),
      'replay, from the open connection: p50; p99': describePercentiles(report.replays),
      'all messages, from publishing: p50; p99': describePercentiles(report.latencies),
      'CPU of the server; of the clients, s': [server.cpuMicros() - before.server, report.cpuMicros - before.clients]
        .map((micros) => (micros / 1e6).toFixed(1))
        .join('; '),
    };
  } finally {
    clients.stop();
    await server.stop();
  }
}

function describePercentiles(durations: Milliseconds): string {
  return `${durations.percentile(0.5)}; ${durations.percentile(0.99)}`;
}
