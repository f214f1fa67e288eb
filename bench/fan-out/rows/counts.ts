import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import type { CandidateName } from '../candidates.ts';
import { measureCosts, perDelivery, perEvent, type Run } from '../rounds.ts';

const sizes = [100, 1_000, 10_000];
const names: CandidateName[] = ['raw-ws', 'raw-ws-after-mutation', 'postroom'];

export async function counts(run: Run): Promise<TableWithTargets> {
  const measured = [];
  for (const size of sizes) {
    const options = names.map((name) => ({ name, size }));
    const costs = await measureCosts(options, run);
    const [raw = [], rawAfterMutation = [], own = []] = costs.map(perDelivery);
    measured.push({ size, raw, rawAfterMutation, own, event: perEvent(costs.at(-1) ?? []) });
  }
  return {
    title: 'CPU per delivery by the number of subscribers',
    about:
      'Subscribers of one room. A mutation leaves the caches of the processor cold for the deliveries after it, so raw ws is also measured in the process of Postroom after the same mutation. The last column is the mutation without subscribers, which is not included in a delivery.',
    rows: measured.map(({ size, raw, rawAfterMutation, own, event }) => ({
      subscribers: size.toLocaleString('en'),
      'raw ws, µs per delivery': spread(raw, 1),
      'raw ws after the mutation': spread(rawAfterMutation, 1),
      'Postroom, µs per delivery': spread(own, 1),
      'Postroom ÷ raw ws': spread(ratios(own, raw)),
      '÷ raw ws after the mutation': spread(ratios(own, rawAfterMutation)),
      'µs per mutation': spread(event, 0),
    })),
    targets: measured.map(({ size, raw, own }) => ({
      name: `Postroom ÷ raw ws, ${size.toLocaleString('en')} subscribers`,
      ratios: ratios(own, raw),
      atMost: 1.3,
    })),
  };
}
