import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { measureCosts, perDelivery, type Run } from '../rounds.ts';
import { eventQuery, type ScenarioOptions } from '../scenario.ts';

const sizes = [500, 5_000];
const numbers = [1, 10, 50];

export async function selections(run: Run): Promise<TableWithTargets> {
  const measured: Measured[] = [];
  for (const size of sizes) {
    const options = numbers.map(
      (count): ScenarioOptions => ({ name: 'postroom', size, queries: createDocuments(count) }),
    );
    const costs = await measureCosts(options, run);
    const [one = []] = costs.map(perDelivery);
    for (const [index, count] of numbers.entries()) {
      const all = perDelivery(costs[index] ?? []);
      const added = all.map((micros, round) => ((micros - (one[round] ?? 0)) * size) / Math.max(1, count - 1));
      measured.push({ size, count, all, quotients: ratios(all, one), added });
    }
  }
  return {
    title: 'Different selections',
    about: 'Postroom, one room. Its subscribers are divided equally among the documents.',
    rows: measured.map(({ size, count, all, quotients, added }) => ({
      subscribers: size.toLocaleString('en'),
      selections: String(count),
      'µs per delivery': spread(all, 1),
      '÷ one selection': spread(quotients),
      'µs per event and additional selection': count === 1 ? '' : spread(added, 0),
    })),
    targets: [
      // The ratio would be 50 if the selection of each subscriber was executed.
      { name: '50 selections ÷ one, 5,000 subscribers', ratios: measured.at(-1)?.quotients ?? [], atMost: 1.3 },
    ],
  };
}

interface Measured {
  size: number;
  count: number;
  /** Microseconds per delivery. */
  all: number[];
  quotients: number[];
  /** Microseconds per event and additional selection. */
  added: number[];
}

/** Documents that differ only in the name of the operation, so that all events have the same length. */
function createDocuments(count: number): string[] {
  return Array.from({ length: count }, (_, index) => eventQuery.replace('Room', `Room${index}`));
}
