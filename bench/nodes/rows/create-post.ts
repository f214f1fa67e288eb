import { load } from '../../http/load.ts';
import { createRoom, signUp } from '../../support/accounts.ts';
import { assertInstalled } from '../../support/installed.ts';
import { program } from '../../support/program.ts';
import { measureInTurn } from '../../support/rounds.ts';
import { Server } from '../../support/server.ts';
import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { openBus } from '../buses.ts';
import { nodeSettings, query, redisUrl, withDatabase } from '../database.ts';
import { runPgbench, toScript } from '../pgbench.ts';
import { body, createWorld, title, Writer } from '../writer.ts';
import type { Run } from './run.ts';

const rooms = 20;
const clients = 8;
const connections = 32;

/** Posts per second: PostgreSQL itself, the data layer, and the whole server. */
export function createPost({ rounds, seconds }: Run): Promise<TableWithTargets> {
  assertInstalled('pgbench', 'postgresql-contrib');
  assertInstalled('wrk');
  return withDatabase(async (url) => {
    const viewer = await createWorld(url, rooms);
    const writer = await Writer.open(url, viewer);
    const notifying = await Writer.open(url, viewer, await openBus('NOTIFY', url, redisUrl));
    const withRedis = await Writer.open(url, viewer, await openBus('Redis', url, redisUrl));
    const server = await Server.start({ command: program, environment: nodeSettings(url) });
    try {
      // The first post prepares the statements.
      await writer.createPost('1');
      const piped = await toScript(writer, { rooms, inTwoTrips: true });
      const plain = await toScript(writer, { rooms, inTwoTrips: false });
      const send = await prepareHttp(url, server.port);
      const kinds: Record<string, () => Promise<number>> = {
        [`pgbench, ${clients} clients, two round trips`]: () => runPgbench(url, piped, { seconds, clients }),
        [`pgbench, ${clients} clients, a round trip per statement`]: () => runPgbench(url, plain, { seconds, clients }),
        [`data layer, ${clients} at a time`]: () => writer.measureRate({ seconds, inFlight: clients, rooms }),
        'the same with NOTIFY': () => notifying.measureRate({ seconds, inFlight: clients, rooms }),
        'the same with Redis': () => withRedis.measureRate({ seconds, inFlight: clients, rooms }),
        [`over HTTP, ${connections} connections`]: () => send(seconds),
      };
      const samples = await measureInTurn(Object.values(kinds), { rounds, warmUpRounds: 1 }, (measure) => measure());
      const [piping = [], single = [], data = [], notify = [], redis = [], http = []] = samples;
      return {
        title: 'createPost',
        about: `${rooms} rooms. pgbench runs the ${plain.lines.length - 3} statements that one createPost sends.`,
        rows: Object.keys(kinds).map((kind, index) => ({
          '': kind,
          'posts/s': spread(samples[index] ?? [], 0),
          '÷ pgbench in two trips': spread(ratios(samples[index] ?? [], piping)),
          '÷ pgbench': spread(ratios(samples[index] ?? [], single)),
        })),
        targets: [
          { name: 'data layer ÷ pgbench in two round trips', ratios: ratios(data, piping), atLeast: 0.8 },
          { name: 'data layer ÷ pgbench', ratios: ratios(data, single), atLeast: 0.8 },
          { name: 'data layer with NOTIFY ÷ without a bus', ratios: ratios(notify, data), atLeast: 0.75 },
          { name: 'data layer with Redis ÷ without a bus', ratios: ratios(redis, data), atLeast: 0.75 },
          { name: 'HTTP ÷ pgbench in two round trips', ratios: ratios(http, piping), atLeast: 0.5 },
          { name: 'HTTP ÷ pgbench', ratios: ratios(http, single), atLeast: 0.5 },
        ],
      };
    } finally {
      for (const each of [writer, notifying, withRedis]) await each.close();
      await server.stop();
    }
  });
}

/** Returns a function that sends posts to the server, and returns those stored per second. */
async function prepareHttp(url: string, port: number): Promise<(seconds: number) => Promise<number>> {
  const token = await signUp(port);
  const ids: string[] = [];
  for (let index = 0; index < rooms; index += 1) ids.push(await createRoom(port, token, `lobby ${index}`));
  const document = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
  const bodies = ids.map((room) => JSON.stringify({ query: document, variables: { input: { room, title, body } } }));
  return async (seconds) => {
    const before = await countEvents(url);
    const startedAt = performance.now();
    const { requestsPerSecond, requests } = await load({
      port,
      body: bodies,
      connections,
      seconds,
      authorization: `Bearer ${token}`,
    });
    const stored = (await countEvents(url)) - before;
    // A refused mutation is also answered with 200.
    if (stored < requests)
      throw new Error(`${requests} requests stored ${stored} posts in ${performance.now() - startedAt} ms.`);
    return requestsPerSecond;
  };
}

async function countEvents(url: string): Promise<number> {
  const [row] = await query<{ count: string }>(url, 'select sum("head") as count from rooms');
  return Number(row?.count);
}
