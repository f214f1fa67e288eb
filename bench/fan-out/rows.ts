import { type AudienceOptions, type Cost, eventQuery, type Latency } from './audience.ts';
import { type ContestantName, peers } from './contestants.ts';
import { measureMemory } from './memory.ts';
import { alternate, measureCosts, type Run, withAudiences } from './rounds.ts';
import { median, percentile, ratios, spread } from './statistics.ts';
import type { Table } from './table.ts';

/** Every row of the bench, by the name that chooses it. */
export const rows: Record<string, (run: Run) => Promise<Table>> = {
  delivery,
  counts,
  selections,
  rooms,
  memory,
  latency,
};

const everyone: ContestantName[] = ['raw-ws', ...peers, 'postroom'];

async function delivery(run: Run): Promise<Table> {
  const size = 500;
  const options = everyone.map((name): AudienceOptions => ({ name, size }));
  const table = await withAudiences(options, run, async (audiences) => {
    const costs = (await measureCosts(audiences, run)).map(perDelivery);
    const events = await Promise.all(audiences.map((audience) => audience.frameBytes()));
    const [floor = []] = costs;
    const own = costs.at(-1) ?? [];
    return audiences.map(({ title }, index) => ({
      contestant: title,
      'bytes an event': String(events[index]),
      'µs a delivery': spread(costs[index] ?? [], 1),
      '× raw ws': spread(ratios(costs[index] ?? [], floor)),
      '× Postroom': spread(ratios(costs[index] ?? [], own), 1),
    }));
  });
  return {
    title: 'Server CPU per delivery',
    about: `${size} subscribers of one room. Wanted: Postroom ≤ 1.3 × raw ws, and every stock peer ≥ 6 × Postroom.`,
    rows: table,
  };
}

async function counts(run: Run): Promise<Table> {
  const table = [];
  for (const size of [100, 1_000, 10_000]) {
    const options = (['raw-ws', 'postroom'] as const).map((name) => ({ name, size }));
    const [raw = [], own = []] = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    table.push({
      subscribers: String(size),
      'raw ws, µs a delivery': spread(perDelivery(raw), 1),
      'Postroom, µs a delivery': spread(perDelivery(own), 1),
      'Postroom ÷ raw ws': spread(ratios(perDelivery(own), perDelivery(raw))),
      'an event of its own, µs': spread(perEvent(own), 0),
    });
  }
  return {
    title: 'More and more subscribers',
    about:
      'Subscribers of one room. Wanted: ≤ 1.3 × raw ws. The last column is the mutation without subscribers, which is not counted.',
    rows: table,
  };
}

async function selections(run: Run): Promise<Table> {
  const numbers = [1, 10, 50];
  const table = [];
  for (const size of [500, 5_000]) {
    const options = numbers.map((count): AudienceOptions => ({ name: 'postroom', size, queries: distinct(count) }));
    const costs = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    const [one = []] = costs.map(perDelivery);
    for (const [index, count] of numbers.entries()) {
      const all = perDelivery(costs[index] ?? []);
      const added = all.map((micros, round) => ((micros - (one[round] ?? 0)) * size) / Math.max(1, count - 1));
      table.push({
        subscribers: String(size),
        selections: String(count),
        'µs a delivery': spread(all, 1),
        '÷ one selection': spread(ratios(all, one)),
        'µs an event and added selection': count === 1 ? '' : spread(added, 0),
      });
    }
  }
  return {
    title: 'Distinct selections',
    about:
      'Postroom, one room. Wanted: what a selection adds to an event does not grow with the subscribers (last column: alike for 500 and 5,000).',
    rows: table,
  };
}

async function rooms(run: Run): Promise<Table> {
  const table = [];
  for (const name of ['raw-ws', 'postroom'] as const) {
    const options: AudienceOptions[] = [
      { name, size: 10_000 },
      { name, size: 10, rooms: 1_000 },
    ];
    const [one = [], many = []] = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    table.push({
      contestant: name,
      'one room of 10,000, µs a delivery': spread(perDelivery(one), 1),
      '1,000 rooms of 10, µs a delivery': spread(perDelivery(many), 1),
      ratio: spread(ratios(perDelivery(many), perDelivery(one))),
      'an event of its own, µs': spread(perEvent(many), 0),
    });
  }
  return {
    title: 'One room of 10,000, or 1,000 rooms of 10',
    about: 'Wanted: ≤ 1.5. In 1,000 rooms one event is executed for 10 deliveries. The last column is not counted.',
    rows: table,
  };
}

async function memory(run: Run): Promise<Table> {
  const names: ContestantName[] = ['raw-ws', 'graphql-ws', 'postroom'];
  const measured = new Map(names.map((name) => [name, { rss: [] as number[], heap: [] as number[] }]));
  for (let round = 0; round < Math.min(3, run.rounds); round += 1) {
    for (const [name, { rss, heap }] of measured) {
      const bytes = await measureMemory(name, run);
      rss.push(bytes.rss / 1_024);
      heap.push(bytes.heap / 1_024);
    }
  }
  const floor = measured.get('graphql-ws')?.rss ?? [];
  return {
    title: 'Memory of an idle subscriber',
    about: '10,000 subscribers in one process, after garbage collection. Wanted: ≤ 1.5 × ws + graphql-ws.',
    rows: [...measured].map(([name, { rss, heap }]) => ({
      contestant: name,
      'resident KiB a subscriber': spread(rss, 1),
      'of it V8 heap and external': spread(heap, 1),
      '× ws + graphql-ws': spread(ratios(rss, floor)),
    })),
  };
}

async function latency(run: Run): Promise<Table> {
  const options = everyone.map((name): AudienceOptions => ({ name, size: 1_000 }));
  const events = 50;
  const table = await withAudiences(options, run, async (audiences) => {
    const measured = await alternate(audiences, run.rounds, (audience) => audience.measureLatency(events));
    return audiences.map(({ title }, index) => ({ contestant: title, ...describe((measured[index] ?? []).flat()) }));
  });
  return {
    title: 'From the commit to the last of 1,000 subscribers',
    about: `Milliseconds, ${events * run.rounds} events each, from the answer to the mutation and from its request.`,
    rows: table,
  };
}

function describe(latencies: readonly Latency[]): Record<string, string> {
  const answers = latencies.map(({ fromResponse }) => fromResponse);
  const requests = latencies.map(({ fromRequest }) => fromRequest);
  return {
    'p50 from the answer': median(answers).toFixed(1),
    'p99 from the answer': percentile(answers, 0.99).toFixed(1),
    'p50 from the request': median(requests).toFixed(1),
    'p99 from the request': percentile(requests, 0.99).toFixed(1),
  };
}

/** Documents that ask for the same under other names: what they deliver is equally long. */
function distinct(count: number): string[] {
  return Array.from({ length: count }, (_, index) => eventQuery.replace('Room', `Room${index}`));
}

function perDelivery(costs: readonly Cost[]): number[] {
  return costs.map(({ microsPerDelivery }) => microsPerDelivery);
}

function perEvent(costs: readonly Cost[]): number[] {
  return costs.map(({ microsPerEvent }) => microsPerEvent);
}
