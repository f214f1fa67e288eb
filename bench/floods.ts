import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Command, Report } from './floods/flood.ts';
import { type Kind, kinds } from './floods/kinds.ts';
import type { Latencies, Command as OrdinaryCommand } from './floods/ordinary-clients.ts';
import { prepareRoom } from './floods/prepare.ts';
import { warmUp } from './floods/warm-up.ts';
import { printHeading } from './support/heading.ts';
import { program } from './support/program.ts';
import type { Usage } from './support/report-usage.ts';
import { measureInTurn } from './support/rounds.ts';
import { Server } from './support/server.ts';
import { median, spread } from './support/statistics.ts';
import { formatTable } from './support/table.ts';
import { Worker } from './support/worker.ts';

/* npm run bench -- floods [NAME …] [--rounds N]. A name selects the floods whose names contain it. */

const quietSeconds = 3;
const floodSeconds = 4;
const samplingMs = 250;
/** The time in which the server frees the memory of closed connections. */
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

printHeading('floods');
const flood = new Worker<Command, Report>(new URL('./floods/flood.ts', import.meta.url));
const ordinaryClients = new Worker<OrdinaryCommand, Latencies>(
  new URL('./floods/ordinary-clients.ts', import.meta.url),
);
const rows = [];
let floodCount = 0;
for (const kind of chosen) rows.push({ flood: kind, ...(await measureKind(kind)) });
flood.stop();
ordinaryClients.stop();
const about = `${rounds} rounds of ${quietSeconds} s without and ${floodSeconds} s with the flood. Goal: growth ≤ 50 MB, p99 ≤ 2 × quiet.`;
console.log(formatTable({ title: 'Floods', about, rows }));

interface Round {
  quiet: Latencies;
  flooded: Latencies;
  /** The largest resident memory, in bytes. */
  peak: number;
  /** Used processors: CPU time divided by elapsed time. */
  serverLoad: number;
  floodLoad: number;
  counts: Record<string, number>;
}

/** Usage after garbage collection. */
interface Memory {
  before: Usage;
  /** While the connections of the flood are open. */
  during: Usage;
  after: Usage;
}

interface Setup {
  kind: Kind;
  server: Server;
  room: string;
}

async function measureKind(kind: Kind): Promise<Record<string, string>> {
  const environment = { PORT: '0', DATABASE_URL: 'sqlite::memory:' };
  const server = await Server.start({ command: program, environment });
  try {
    const setup = { kind, server, room: await prepareRoom(server.port) };
    await warmUp(server.port, setup.room, 1);
    await measureLatencies(setup, quietSeconds);
    const before = await server.usage('usage after gc');
    // A forced collection shrinks V8's space for young objects, so there is none from here until the last round has ended.
    await warmUp(server.port, setup.room, 2);
    await measureLatencies(setup, quietSeconds);
    const warm = await server.usage();
    const [measured = []] = await measureInTurn([setup], { rounds, warmUpRounds: 1 }, measureRound);
    await beginFlood(setup);
    await measureLatencies(setup, floodSeconds);
    const during = await server.usage('usage after gc');
    await endFlood();
    const after = await server.usage('usage after gc');
    return describe(measured, warm, { before, during, after });
  } finally {
    await server.stop();
  }
}

function measureLatencies({ server, room }: Setup, seconds: number): Promise<Latencies> {
  return ordinaryClients.send({ port: server.port, query: `{ room(id: "${room}") { id name } }`, seconds });
}

function beginFlood({ kind, server, room }: Setup): Promise<Report> {
  return flood.send({ type: 'begin', kind, port: server.port, room, addresses: newAddresses() });
}

async function endFlood(): Promise<Report> {
  const report = await flood.send({ type: 'end' });
  await sleep(settlingMs);
  return report;
}

async function measureRound(setup: Setup): Promise<Round> {
  const { server } = setup;
  const quiet = await measureLatencies(setup, quietSeconds);
  await beginFlood(setup);
  const { cpuMicros } = await server.usage();
  const [flooded, peak] = await Promise.all([measureLatencies(setup, floodSeconds), samplePeak(server)]);
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

/** The largest resident memory during the flood. */
async function samplePeak(server: Server): Promise<number> {
  let peak = 0;
  for (const end = performance.now() + floodSeconds * 1_000; performance.now() < end; await sleep(samplingMs)) {
    peak = Math.max(peak, (await server.usage()).rssBytes);
  }
  return peak;
}

/** Five addresses that no flood has used before, so that no limit applies to them yet. */
function newAddresses(): string[] {
  floodCount += 1;
  return Array.from(
    { length: 5 },
    (_, index) => `127.${1 + Math.floor(floodCount / 250)}.${1 + (floodCount % 250)}.${index + 1}`,
  );
}

function describe(measured: readonly Round[], warm: Usage, memory: Memory): Record<string, string> {
  const { before, during, after } = memory;
  const all = (figure: (round: Round) => number) => measured.map(figure);
  const megabytes = (bytes: number) => (bytes / megabyte).toFixed(0);
  return {
    'peak growth, MB': spread(
      all(({ peak }) => (peak - warm.rssBytes) / megabyte),
      0,
    ),
    'growth during, MB': megabytes(during.rssBytes - before.rssBytes),
    'of which heap': megabytes(during.heapBytes - before.heapBytes),
    'growth after, MB': megabytes(after.rssBytes - before.rssBytes),
    'p50 quiet, ms': median(all(({ quiet }) => quiet.p50Ms)).toFixed(1),
    'p50 flooded': median(all(({ flooded }) => flooded.p50Ms)).toFixed(1),
    'p99 quiet, ms': spread(
      all(({ quiet }) => quiet.p99Ms),
      1,
    ),
    'p99 flooded': spread(
      all(({ flooded }) => flooded.p99Ms),
      1,
    ),
    'p99 flooded ÷ quiet': spread(all(({ quiet, flooded }) => flooded.p99Ms / quiet.p99Ms)),
    'server CPU': median(all(({ serverLoad }) => serverLoad)).toFixed(2),
    'flood CPU': median(all(({ floodLoad }) => floodLoad)).toFixed(2),
    outcomes: JSON.stringify(measured.at(-1)?.counts),
  };
}
