import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { printHead } from './data/head.ts';
import type { Usage } from './fan-out/probe.ts';
import { Server } from './fan-out/server.ts';
import { median, spread } from './fan-out/statistics.ts';
import { formatTable } from './fan-out/table.ts';
import type { Order, Report } from './floods/flood.ts';
import { type Kind, kinds } from './floods/kinds.ts';
import type { Order as NeighbourOrder, Service } from './floods/neighbour.ts';
import { type Prepared, prepare } from './floods/prepare.ts';
import { warmUp } from './floods/warm-up.ts';
import { Worker } from './floods/worker.ts';
import { program } from './program.ts';

/* npm run bench -- floods [part of a name …] [--rounds n] */

const quietSeconds = 3;
const floodSeconds = 4;
const samplingMs = 250;
const settlingMs = 1_500;
const megabyte = 1_000_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '3' } },
});
const rounds = Number(values.rounds);
const chosen = (Object.keys(kinds) as Kind[]).filter(
  (kind) => positionals.length === 0 || positionals.some((part) => kind.includes(part)),
);

printHead('floods');
const flood = new Worker<Order, Report>('./flood.ts');
const neighbour = new Worker<NeighbourOrder, Service>('./neighbour.ts');
const rows = [];
let windows = 0;
for (const kind of chosen) rows.push({ flood: kind, ...(await measureKind(kind)) });
flood.stop();
neighbour.stop();
const about = `${rounds} rounds: ${quietSeconds} s without, ${floodSeconds} s with the flood. Wanted: growth ≤ 50 MB, p99 ≤ 2 × quiet.`;
console.log(formatTable({ title: 'Floods', about, rows }));

interface Round {
  quiet: Service;
  flooded: Service;
  /** The most that the process held, in bytes. */
  peak: number;
  /** Shares of a processor. */
  serverLoad: number;
  floodLoad: number;
  counts: Record<string, number>;
}

/** Each behind a forced collection. */
interface Memory {
  /** Behind ordinary work. */
  fresh: Usage;
  /** While a flood stands. */
  standing: Usage;
  after: Usage;
}

async function measureKind(kind: Kind): Promise<Record<string, string>> {
  const environment = { PORT: '0', LOG_LEVEL: 'warn', DATABASE_URL: 'sqlite::memory:' };
  const server = await Server.start({ command: program, environment });
  try {
    const prepared = await prepare(server.port);
    await warmUp(server.port, prepared, { pass: 1 });
    await listenTo(server, prepared, quietSeconds);
    const fresh = await server.usage('usage after gc');
    // A forced collection leaves V8 with the smallest space for young objects, which is not how it finds itself at work: none
    // of them between here and the last round.
    await warmUp(server.port, prepared, { pass: 2 });
    await listenTo(server, prepared, quietSeconds);
    const atWork = await server.usage();
    const measured: Round[] = [];
    // The round before the first warms up.
    for (let round = -1; round < rounds; round += 1) {
      const one = await measureRound(server, { kind, prepared });
      if (round >= 0) measured.push(one);
    }
    await beginFlood(server, { kind, prepared });
    await listenTo(server, prepared, floodSeconds);
    const standing = await server.usage('usage after gc');
    await endFlood();
    const after = await server.usage('usage after gc');
    return describe(measured, atWork, { fresh, standing, after });
  } finally {
    await server.stop();
  }
}

interface Setting {
  kind: Kind;
  prepared: Prepared;
}

function listenTo({ port }: Server, { room }: Prepared, seconds: number): Promise<Service> {
  return neighbour.order({ port, query: `{ room(id: "${room}") { id name } }`, seconds });
}

function beginFlood({ port }: Server, { kind, prepared: { room } }: Setting): Promise<Report> {
  return flood.order({ type: 'begin', kind, port, room, addresses: newAddresses() });
}

async function endFlood(): Promise<Report> {
  const report = await flood.order({ type: 'leave' });
  await sleep(settlingMs);
  return report;
}

async function measureRound(server: Server, setting: Setting): Promise<Round> {
  const quiet = await listenTo(server, setting.prepared, quietSeconds);
  await beginFlood(server, setting);
  const { cpuMicros } = await server.usage();
  const [flooded, peak] = await Promise.all([listenTo(server, setting.prepared, floodSeconds), samplePeak(server)]);
  const used = (await server.usage()).cpuMicros - cpuMicros;
  const report = await endFlood();
  return {
    quiet,
    flooded,
    peak,
    serverLoad: used / floodSeconds / 1e6,
    floodLoad: report.cpuMicros / floodSeconds / 1e6,
    counts: report.counts,
  };
}

/** The most memory that it held while the flood went on. */
async function samplePeak(server: Server): Promise<number> {
  let peak = 0;
  for (const end = performance.now() + floodSeconds * 1_000; performance.now() < end; await sleep(samplingMs)) {
    peak = Math.max(peak, (await server.usage()).rssBytes);
  }
  return peak;
}

/** Five that no limit has seen. */
function newAddresses(): string[] {
  windows += 1;
  return Array.from(
    { length: 5 },
    (_, index) => `127.${1 + Math.floor(windows / 250)}.${1 + (windows % 250)}.${index + 1}`,
  );
}

function describe(
  measured: readonly Round[],
  atWork: Usage,
  { fresh, standing, after }: Memory,
): Record<string, string> {
  const all = (figure: (round: Round) => number) => measured.map(figure);
  const megabytes = (bytes: number) => (bytes / megabyte).toFixed(0);
  return {
    'growth at its peak, MB': spread(
      all(({ peak }) => (peak - atWork.rssBytes) / megabyte),
      0,
    ),
    'while it stands': megabytes(standing.rssBytes - fresh.rssBytes),
    'of that held': megabytes(standing.heapBytes - fresh.heapBytes),
    afterwards: megabytes(after.rssBytes - fresh.rssBytes),
    'p50, ms, quiet': median(all(({ quiet }) => quiet.p50Ms)).toFixed(1),
    flooded: median(all(({ flooded }) => flooded.p50Ms)).toFixed(1),
    'p99, ms, quiet': spread(
      all(({ quiet }) => quiet.p99Ms),
      1,
    ),
    'p99 flooded': spread(
      all(({ flooded }) => flooded.p99Ms),
      1,
    ),
    '÷ quiet': spread(all(({ quiet, flooded }) => flooded.p99Ms / quiet.p99Ms)),
    'server CPU': median(all(({ serverLoad }) => serverLoad)).toFixed(2),
    "flood's CPU": median(all(({ floodLoad }) => floodLoad)).toFixed(2),
    'what it got': JSON.stringify(measured.at(-1)?.counts),
  };
}
