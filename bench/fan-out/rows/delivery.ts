import { everyone, peers } from '../contestants.ts';
import { measureCosts, perDelivery, type Run, withAudiences } from '../rounds.ts';
import { median, ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const size = 500;

export async function delivery(run: Run): Promise<Found> {
  const options = everyone.map((name) => ({ name, size }));
  return withAudiences(options, run, async (audiences) => {
    const costs = (await measureCosts(audiences, run)).map(perDelivery);
    const frames = await Promise.all(audiences.map((audience) => audience.frameBytes()));
    const floor = costs[everyone.indexOf('raw-ws')] ?? [];
    const own = costs[everyone.indexOf('postroom')] ?? [];
    const best = peers
      .map((name) => ratios(costs[everyone.indexOf(name)] ?? [], own))
      .reduce((least, each) => (median(each) < median(least) ? each : least));
    return {
      title: 'Server CPU per delivery',
      about: `${size} subscribers of one room.`,
      rows: audiences.map(({ title }, index) => ({
        contestant: title,
        'bytes an event': String(frames[index]),
        'µs a delivery': spread(costs[index] ?? [], 1),
        '÷ raw ws': spread(ratios(costs[index] ?? [], floor)),
        '÷ Postroom': spread(ratios(costs[index] ?? [], own), 1),
      })),
      targets: [
        { what: `Postroom ÷ raw ws, ${size} subscribers`, ratios: ratios(own, floor), atMost: 1.3 },
        { what: `the best stock server ÷ Postroom, ${size} subscribers`, ratios: best, atLeast: 6 },
      ],
    };
  });
}
