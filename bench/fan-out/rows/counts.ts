import type { ContestantName } from '../contestants.ts';
import { measureCosts, perDelivery, perEvent, type Run, withAudiences } from '../rounds.ts';
import { ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const sizes = [100, 1_000, 10_000];
const names: ContestantName[] = ['raw-ws', 'raw-ws-behind-postroom', 'postroom'];

export async function counts(run: Run): Promise<Found> {
  const measured = [];
  for (const size of sizes) {
    const options = names.map((name) => ({ name, size }));
    const costs = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    const [floor = [], behind = [], own = []] = costs.map(perDelivery);
    measured.push({ size, floor, behind, own, event: perEvent(costs.at(-1) ?? []) });
  }
  return {
    title: 'More and more subscribers',
    about:
      'Subscribers of one room. A mutation leaves the caches cold for the deliveries behind it: the second floor is raw ws in the same process, behind the same mutation. The last column is the mutation without subscribers, which is not counted.',
    rows: measured.map(({ size, floor, behind, own, event }) => ({
      subscribers: size.toLocaleString('en'),
      'raw ws, µs a delivery': spread(floor, 1),
      'raw ws behind the mutation': spread(behind, 1),
      'Postroom, µs a delivery': spread(own, 1),
      'Postroom ÷ raw ws': spread(ratios(own, floor)),
      '÷ raw ws behind the mutation': spread(ratios(own, behind)),
      'µs a mutation': spread(event, 0),
    })),
    targets: measured.map(({ size, floor, own }) => ({
      what: `Postroom ÷ raw ws, ${size.toLocaleString('en')} subscribers`,
      ratios: ratios(own, floor),
      atMost: 1.3,
    })),
  };
}
