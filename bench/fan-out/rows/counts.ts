import type { ContestantName } from '../contestants.ts';
import { measureCosts, perDelivery, perEvent, type Run, withAudiences } from '../rounds.ts';
import { ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const sizes = [100, 1_000, 10_000];
const pair: ContestantName[] = ['raw-ws', 'postroom'];

export async function counts(run: Run): Promise<Found> {
  const measured = [];
  for (const size of sizes) {
    const options = pair.map((name) => ({ name, size }));
    const [floor = [], own = []] = await withAudiences(options, run, (audiences) => measureCosts(audiences, run));
    const quotients = ratios(perDelivery(own), perDelivery(floor));
    measured.push({ size, floor: perDelivery(floor), own: perDelivery(own), event: perEvent(own), quotients });
  }
  return {
    title: 'More and more subscribers',
    about: 'Subscribers of one room. The last column is the mutation without subscribers, which is not counted.',
    rows: measured.map(({ size, floor, own, event, quotients }) => ({
      subscribers: size.toLocaleString('en'),
      'raw ws, µs a delivery': spread(floor, 1),
      'Postroom, µs a delivery': spread(own, 1),
      'Postroom ÷ raw ws': spread(quotients),
      'µs a mutation': spread(event, 0),
    })),
    targets: measured.map(({ size, quotients }) => ({
      what: `Postroom ÷ raw ws, ${size.toLocaleString('en')} subscribers`,
      ratios: quotients,
      atMost: 1.3,
    })),
  };
}
