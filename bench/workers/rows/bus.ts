import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { measureInTurn } from '../../support/rounds.ts';
import { spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { Worker } from '../../support/worker.ts';
import { createFolder } from '../../writes/target.ts';
import type { Command, Reply } from '../bus-process.ts';
import type { Run } from '../run.ts';

const ratesPerSecond = [100, 1_000, 5_000];
const settleMs = 200;
/** Their indexes; the first process is the parent. */
const publisher = 1;
const receiver = 2;

interface Sample {
  microsPerEvent: number;
  p50Ms: number;
  p99Ms: number;
}

/** The bus alone: from `publish` of one process to the listener of another, with the parent that passes the message on. */
export async function bus({ counts, rounds, seconds }: Run): Promise<TableWithTargets> {
  const workers = counts.at(-1) ?? 2;
  const path = join(createFolder(), 'bus');
  const processes = Array.from(
    { length: 1 + workers },
    () => new Worker<Command, Reply>(new URL('../bus-process.ts', import.meta.url)),
  );
  const [exchange, ...members] = processes;
  try {
    await exchange?.send({ type: 'exchange', path });
    for (const member of members) await member.send({ type: 'join', path });
    const samples = await measureInTurn(ratesPerSecond, { rounds, warmUpRounds: 2 }, (rate) =>
      measure(processes, rate, seconds),
    );
    const all = (index: number, figure: keyof Sample) => (samples[index] ?? []).map((sample) => sample[figure]);
    return {
      title: 'The bus between workers',
      about: `${workers} processes that follow the same rooms, and their parent. One of them publishes.`,
      rows: ratesPerSecond.map((rate, index) => ({
        'events per second': String(rate),
        'CPU per event and worker, µs': spread(all(index, 'microsPerEvent'), 1),
        'p50, ms': spread(all(index, 'p50Ms')),
        'p99, ms': spread(all(index, 'p99Ms')),
      })),
      targets: ratesPerSecond.map((rate, index) => ({
        name: `CPU of the bus per event and worker, ${rate} events/s, µs`,
        ratios: all(index, 'microsPerEvent'),
        atMost: 30,
      })),
    };
  } finally {
    for (const each of processes) each.stop();
  }
}

/** The CPU time is that of all processes, less that of the same processes while the events are only created. */
async function measure(
  processes: readonly Worker<Command, Reply>[],
  ratePerSecond: number,
  seconds: number,
): Promise<Sample> {
  const events = ratePerSecond * seconds;
  const report = () => Promise.all(processes.map((each) => each.send({ type: 'report' })));
  const run = async (isDryRun: boolean) => {
    await report();
    await processes[publisher]?.send({ type: 'publish', ratePerSecond, seconds, isDryRun });
    await wait(settleMs);
    const replies = await report();
    return { replies, micros: replies.reduce((sum, { cpuMicros }) => sum + cpuMicros, 0) };
  };
  const dry = await run(true);
  const { replies, micros } = await run(false);
  const { received, p50Ms, p99Ms } = replies[receiver] as Reply;
  if (received !== events) throw new Error(`${received} of ${events} events arrived`);
  return { microsPerEvent: (micros - dry.micros) / events / (processes.length - 1), p50Ms, p99Ms };
}
