import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { type CandidateName, titles } from '../candidates.ts';
import { measureCosts, perDelivery, perEvent, type Run } from '../rounds.ts';

const names: CandidateName[] = ['raw-ws', 'raw-ws-after-mutation', 'postroom'];

export async function rooms(run: Run): Promise<TableWithTargets> {
  const measured = [];
  for (const name of names) {
    const options = [
      { name, size: 10_000 },
      { name, size: 10, rooms: 1_000 },
    ];
    const [one = [], many = []] = await measureCosts(options, run);
    const quotients = ratios(perDelivery(many), perDelivery(one));
    measured.push({ name, one: perDelivery(one), many: perDelivery(many), quotients, event: perEvent(many) });
  }
  return {
    title: 'One room of 10,000 subscribers, or 1,000 rooms of 10',
    about:
      'In a small room every ten deliveries follow a mutation and one execution. In the second row raw ws delivers after the same mutation. The last column is the mutation, which is not included in a delivery; one request has 25 mutations.',
    rows: measured.map(({ name, one, many, quotients, event }) => ({
      server: titles[name],
      'one room, µs per delivery': spread(one, 1),
      '1,000 rooms, µs per delivery': spread(many, 1),
      '1,000 rooms ÷ one': spread(quotients),
      'µs per mutation': spread(event, 0),
    })),
    targets: [
      {
        name: '1,000 rooms of 10 ÷ one of 10,000, per delivery',
        ratios: measured.at(-1)?.quotients ?? [],
        atMost: 1.5,
      },
    ],
  };
}
