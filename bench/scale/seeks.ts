import { measureInTurn } from '../support/rounds.ts';
import type { Server } from '../support/server.ts';
import { median, ratios, spread } from '../support/statistics.ts';
import type { TableWithTargets } from '../support/table.ts';
import { type Run, startServer } from './databases.ts';
import { chooseOperations } from './operations.ts';

const repetitions = 200;
const inFlight = 4;
const goalBytes = 300e6;

/** CPU time of the server per operation, on the large database and on the small one, in turn. */
export async function measureSeeks({ small, large, rounds }: Run): Promise<TableWithTargets> {
  const servers = [await startServer(small.url), await startServer(large.url)];
  try {
    const operations = await Promise.all(servers.map(({ port }) => chooseOperations(port)));
    const names = Object.keys(operations[0] ?? {});
    const items = names.flatMap((name) => servers.map((server, index) => ({ server, run: operations[index]?.[name] })));
    const samples = await measureInTurn(items, { rounds, warmUpRounds: 2 }, ({ server, run }) => measure(server, run));
    const found = names.map((name, index) => ({
      name,
      small: samples[2 * index] ?? [],
      large: samples[2 * index + 1] ?? [],
    }));
    const rows = found.map(({ name, small, large }) => ({
      operation: name,
      'small, µs of CPU': median(small).toFixed(0),
      'large, µs of CPU': median(large).toFixed(0),
      'large ÷ small': spread(ratios(large, small)),
    }));
    const { rssBytes = 0 } = (await servers[1]?.usage()) ?? {};
    const targets = [
      ...found.map(({ name, small, large }) => ({
        name: `${name}, large ÷ small`,
        ratios: ratios(large, small),
        atMost: 1.2,
      })),
      { name: 'resident memory of the large server ÷ 300 MB', ratios: [rssBytes / goalBytes], atMost: 1 },
    ];
    const about = `${large.sizes.posts.toLocaleString('en-US')} posts against ${small.sizes.posts.toLocaleString('en-US')}; ${rounds} rounds of ${repetitions} operations.`;
    return { title: 'Seeks', about, rows, targets };
  } finally {
    for (const server of servers) await server.stop();
  }
}

async function measure(server: Server, run = async (): Promise<unknown> => undefined): Promise<number> {
  const before = await server.usage();
  const repeat = async () => {
    for (let count = 0; count < repetitions / inFlight; count += 1) await run();
  };
  await Promise.all(Array.from({ length: inFlight }, repeat));
  const after = await server.usage();
  return (after.cpuMicros - before.cpuMicros) / repetitions;
}
