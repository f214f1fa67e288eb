import { everyone, peers } from '../contestants.ts';
import { measureCosts, perDelivery, type Run, withAudiences } from '../rounds.ts';
import { median, ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const size = 500;
const burst = 10;

/** One event after the other: each is on its way before the next is made. */
export function delivery(run: Run): Promise<Found> {
  return compare(run, 1, `${size} subscribers of one room.`);
}

/** What a busy room is: several write at the same time. */
export function bursts(run: Run): Promise<Found> {
  return compare(run, burst, `${size} subscribers of one room, ${burst} requests at a time, an event each.`);
}

async function compare(run: Run, burst: number, about: string): Promise<Found> {
  const options = everyone.map((name) => ({ name, size, burst }));
  return withAudiences(options, run, async (audiences) => {
    const costs = (await measureCosts(audiences, run)).map(perDelivery);
    const frames = await Promise.all(audiences.map((audience) => audience.frameBytes()));
    const floor = costs[everyone.indexOf('raw-ws')] ?? [];
    const own = costs[everyone.indexOf('postroom')] ?? [];
    const best = peers
      .map((name) => ratios(costs[everyone.indexOf(name)] ?? [], own))
      .reduce((least, each) => (median(each) < median(least) ? each : least));
    const what = `${size} subscribers, ${burst} at a time`;
    return {
      title: 'Server CPU per delivery',
      about,
      rows: audiences.map(({ title }, index) => ({
        contestant: title,
        'bytes an event': String(frames[index]),
        'µs a delivery': spread(costs[index] ?? [], 1),
        '÷ raw ws': spread(ratios(costs[index] ?? [], floor)),
        '÷ Postroom': spread(ratios(costs[index] ?? [], own), 1),
      })),
      targets: [
        { what: `Postroom ÷ raw ws, ${what}`, ratios: ratios(own, floor), atMost: 1.3 },
        { what: `the best stock server ÷ Postroom, ${what}`, ratios: best, atLeast: 6 },
      ],
    };
  });
}
