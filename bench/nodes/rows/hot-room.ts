import { measureInTurn } from '../../support/rounds.ts';
import { median, ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { onConnection, withDatabase } from '../database.ts';
import { Network } from '../network.ts';
import { createWorld, Writer } from '../writer.ts';
import type { Run } from './run.ts';

const delayMs = 1;
const inFlight = 32;

/** Posts into one room, with and without a network between the program and the database. */
export function hotRoom({ rounds, seconds }: Run): Promise<TableWithTargets> {
  return withDatabase(async (url) => {
    const viewer = await createWorld(url, 1);
    const network = await Network.start(url, delayMs);
    const roundTripMs = await measureRoundTrip(network.url);
    const writers = [await Writer.open(url, viewer), await Writer.open(network.url, viewer)];
    try {
      const [local = [], distant = []] = await measureInTurn(writers, { rounds, warmUpRounds: 1 }, (writer) =>
        writer.measureRate({ seconds, inFlight, rooms: 1 }),
      );
      return {
        title: 'One room',
        about: `createPost, ${inFlight} at a time, without HTTP. The proxy delays each direction by ${delayMs} ms; a statement takes ${roundTripMs.toFixed(1)} ms through it.`,
        rows: [
          { database: 'local', 'posts/s': spread(local, 0), '÷ local': '' },
          { database: 'through the proxy', 'posts/s': spread(distant, 0), '÷ local': spread(ratios(distant, local)) },
        ],
        targets: [{ name: 'one room, through the proxy ÷ local', ratios: ratios(distant, local), atLeast: 0.6 }],
      };
    } finally {
      for (const writer of writers) await writer.close();
      network.stop();
    }
  });
}

/** The median time of an empty statement. */
function measureRoundTrip(url: string): Promise<number> {
  return onConnection(url, async (client) => {
    const times: number[] = [];
    for (let index = 0; index < 100; index += 1) {
      const startedAt = performance.now();
      await client.query('select 1');
      times.push(performance.now() - startedAt);
    }
    return median(times);
  });
}
