import { isDeepStrictEqual } from 'node:util';
import { createPosts, start } from '../../http/candidates.ts';
import { load } from '../../http/load.ts';
import { ask } from '../../support/client.ts';
import { assertInstalled } from '../../support/installed.ts';
import { installPackages } from '../../support/packages.ts';
import { program } from '../../support/program.ts';
import { measureInTurn } from '../../support/rounds.ts';
import { Server } from '../../support/server.ts';
import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { nodeSettings, withDatabase } from '../database.ts';
import type { Run } from './run.ts';

const connections = 32;
/** V8 compiles the code of a server again when new connections replace the first ones, which takes a few rounds. */
const warmUpRounds = 4;
const query = '{ posts(limit: 100) { data { id title publishedAt author { id name } room { id name } } } }';

/** A page of 100 posts with their authors and rooms. The stock server reads the same tables. */
export function page({ rounds, seconds }: Run): Promise<TableWithTargets> {
  assertInstalled('wrk');
  installPackages();
  return withDatabase(async (url) => {
    const own = await Server.start({ command: program, environment: nodeSettings(url) });
    await createPosts(own.port);
    const servers = [own, await start('mercurius-jit', { environment: { DATABASE_URL: url } })];
    try {
      const answers = await Promise.all(servers.map(({ port }) => ask(port, { query })));
      if (!isDeepStrictEqual(answers[0], answers[1])) throw new Error('The answers differ.');
      const body = JSON.stringify({ query });
      const samples = await measureInTurn(servers, { rounds, warmUpRounds }, ({ port }) =>
        load({ port, body, connections, seconds }),
      );
      const [rates = [], peer = []] = samples.map((loads) => loads.map(({ requestsPerSecond }) => requestsPerSecond));
      const p99 = samples.map((loads) =>
        spread(
          loads.map(({ p99Ms }) => p99Ms),
          1,
        ),
      );
      return {
        title: 'A page of 100 posts with authors and rooms, from PostgreSQL',
        about: `\`${query}\``,
        rows: [
          { server: 'Postroom', 'requests/s': spread(rates, 0), 'p99, ms': p99[0] ?? '', 'Postroom ÷ server': '' },
          {
            server: 'Mercurius with JIT, and pg',
            'requests/s': spread(peer, 0),
            'p99, ms': p99[1] ?? '',
            'Postroom ÷ server': spread(ratios(rates, peer)),
          },
        ],
        targets: [{ name: 'page ÷ Mercurius with JIT, and pg', ratios: ratios(rates, peer), atLeast: 1.2 }],
      };
    } finally {
      for (const server of servers) await server.stop();
    }
  });
}
