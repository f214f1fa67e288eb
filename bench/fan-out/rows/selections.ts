import { type AudienceOptions, eventQuery } from '../audience.ts';
import { measureCosts, perDelivery, type Run, withAudiences } from '../rounds.ts';
import { ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const sizes = [500, 5_000];
const numbers = [1, 10, 50];

export async function selections(run: Run): Promise<Found> {
  const measured: Measured[] = [];
  for (const size of sizes) {
    const options = numbers.map((count): AudienceOptions => ({ name: 'postroom', size, queries: distinct(count) }));
    const costs = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    const [one = []] = costs.map(perDelivery);
    for (const [index, count] of numbers.entries()) {
      const all = perDelivery(costs[index] ?? []);
      const added = all.map((micros, round) => ((micros - (one[round] ?? 0)) * size) / Math.max(1, count - 1));
      measured.push({ size, count, all, quotients: ratios(all, one), added });
    }
  }
  return {
    title: 'Distinct selections',
    about: 'Postroom, one room, its subscribers spread over so many documents.',
    rows: measured.map(({ size, count, all, quotients, added }) => ({
      subscribers: size.toLocaleString('en'),
      selections: String(count),
      'µs a delivery': spread(all, 1),
      '÷ one selection': spread(quotients),
      'µs an event and added selection': count === 1 ? '' : spread(added, 0),
    })),
    targets: [
      // It would be 50, if each subscriber's selection was executed.
      { what: '50 selections ÷ one, 5,000 subscribers', ratios: measured.at(-1)?.quotients ?? [], atMost: 1.3 },
    ],
  };
}

interface Measured {
  size: number;
  count: number;
  /** Microseconds a delivery. */
  all: number[];
  quotients: number[];
  /** Microseconds an event and selection. */
  added: number[];
}

/** Documents that ask for the same under other names: what they deliver is equally long. */
function distinct(count: number): string[] {
  return Array.from({ length: count }, (_, index) => eventQuery.replace('Room', `Room${index}`));
}
