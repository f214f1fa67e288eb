import { availableParallelism } from 'node:os';
import type { Postroom } from '../support/postroom.ts';
import { cpuMicrosOf } from '../support/processes.ts';
import { ratios, spread } from '../support/statistics.ts';

/** What a server has done in a round, and what it took. */
export interface Work {
  perSecond: number;
  /** CPU time of all its processes, per unit of work. */
  cpuMicros: number;
  /** Units of work per second of CPU time of the process that has used the most: the rate of processes that share no processor with others. */
  perBusiestSecond: number;
  /** CPU time of the load generator, as a share of all processors. */
  loadShare: number;
}

interface Done {
  units: number;
  seconds: number;
  /** CPU time of the load generator. */
  loadMicros: number;
}

export async function measureWork<Result extends Done>(
  postroom: Postroom,
  work: () => Promise<Result>,
): Promise<Work & Result> {
  const pids = [...new Set([postroom.pid, ...postroom.workers])];
  const before = pids.map(cpuMicrosOf);
  const done = await work();
  const { units, seconds, loadMicros } = done;
  const used = pids.map((pid, index) => cpuMicrosOf(pid) - (before[index] ?? 0));
  return {
    ...done,
    perSecond: units / seconds,
    cpuMicros: used.reduce((sum, micros) => sum + micros, 0) / units,
    perBusiestSecond: units / (Math.max(...used) / 1e6),
    loadShare: loadMicros / 1e6 / seconds / availableParallelism(),
  };
}

/** The columns of a server, beside those of the server with one process. */
export function describeWork(works: readonly Work[], ofOne: readonly Work[]): Record<string, string> {
  const all = (figure: keyof Work) => works.map((work) => work[figure]);
  const busiest = ratios(
    all('perBusiestSecond'),
    ofOne.map(({ perBusiestSecond }) => perBusiestSecond),
  );
  return {
    'per second': spread(all('perSecond'), 0),
    '÷ 1 process': spread(ratesRatio(works, ofOne)),
    'CPU, µs': spread(all('cpuMicros'), 1),
    'per CPU second of the busiest process ÷ 1 process': spread(busiest),
    'CPU of the load generator': `${spread(
      all('loadShare').map((share) => 100 * share),
      0,
    )} %`,
  };
}

export function ratesRatio(works: readonly Work[], ofOne: readonly Work[]): number[] {
  return ratios(
    works.map(({ perSecond }) => perSecond),
    ofOne.map(({ perSecond }) => perSecond),
  );
}

/** The number of the process with the fewest, as a share of what each has if all have equally many. */
export function shareOfLeast(numbers: readonly number[]): number {
  const sum = numbers.reduce((total, number) => total + number, 0);
  return Math.min(...numbers) / (sum / numbers.length);
}
