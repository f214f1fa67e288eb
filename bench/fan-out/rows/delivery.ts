import { median, ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { allCandidates, type CandidateName, stockServers } from '../candidates.ts';
import { measureCostsOf, perDelivery, type Run, withScenarios } from '../rounds.ts';

const size = 500;
const burst = 10;

/** The next event is published when all subscribers have received the previous event. */
export function delivery(run: Run): Promise<TableWithTargets> {
  return compare(run, 1, `${size} subscribers of one room.`);
}

/** Concurrent mutations, as in a busy room. */
export function bursts(run: Run): Promise<TableWithTargets> {
  return compare(run, burst, `${size} subscribers of one room, ${burst} concurrent requests with one event each.`);
}

async function compare(run: Run, burst: number, about: string): Promise<TableWithTargets> {
  const options = allCandidates.map((name) => ({ name, size, burst }));
  return withScenarios(options, run, async (scenarios) => {
    const costs = (await measureCostsOf(scenarios, run)).map(perDelivery);
    const bytes = await Promise.all(scenarios.map((scenario) => scenario.eventBytes()));
    const costsOf = (name: CandidateName) => costs[allCandidates.indexOf(name)] ?? [];
    const [raw, own] = [costsOf('raw-ws'), costsOf('postroom')];
    const best = stockServers
      .map((name) => ratios(costsOf(name), own))
      .reduce((least, each) => (median(each) < median(least) ? each : least));
    const conditions = `${size} subscribers, ${burst} at a time`;
    return {
      title: 'Server CPU per delivery',
      about,
      rows: scenarios.map(({ title }, index) => ({
        server: title,
        'bytes per event': String(bytes[index]),
        'µs per delivery': spread(costs[index] ?? [], 1),
        '÷ raw ws': spread(ratios(costs[index] ?? [], raw)),
        '÷ Postroom': spread(ratios(costs[index] ?? [], own), 1),
      })),
      targets: [
        { name: `Postroom ÷ raw ws, ${conditions}`, ratios: ratios(own, raw), atMost: 1.3 },
        { name: `the best stock server ÷ Postroom, ${conditions}`, ratios: best, atLeast: 6 },
      ],
    };
  });
}
