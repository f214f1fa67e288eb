import { ratios, spread } from '../../support/statistics.ts';
import type { TableWithTargets } from '../../support/table.ts';
import { type CandidateName, titles } from '../candidates.ts';
import type { Run } from '../rounds.ts';
import { Scenario } from '../scenario.ts';

const subscribers = 10_000;
const names: CandidateName[] = ['raw-ws', 'graphql-ws', 'postroom'];
/** Each round starts all servers again, and the figures of the rounds hardly differ. */
const maxRounds = 3;

export async function memory(run: Run): Promise<TableWithTargets> {
  const measured = names.map((name) => ({ name, resident: [] as number[], heap: [] as number[] }));
  for (let round = 0; round < Math.min(maxRounds, run.rounds); round += 1) {
    for (const { name, resident, heap } of measured) {
      const bytes = await measureIdle(name, run);
      resident.push(bytes.resident / 1_024);
      heap.push(bytes.heap / 1_024);
    }
  }
  const residentOf = (name: CandidateName) => measured.find((each) => each.name === name)?.resident ?? [];
  const [reference, own] = [residentOf('graphql-ws'), residentOf('postroom')];
  return {
    title: 'Memory of an idle subscriber',
    about: '10,000 subscribers in one process, after garbage collection.',
    rows: measured.map(({ name, resident, heap }) => ({
      server: titles[name],
      'resident memory, KiB per subscriber': spread(resident, 1),
      'heap and external memory': spread(heap, 1),
      'resident ÷ ws + graphql-ws': spread(ratios(resident, reference)),
    })),
    targets: [{ name: 'memory, Postroom ÷ (ws + graphql-ws)', ratios: ratios(own, reference), atMost: 1.5 }],
  };
}

/** Bytes per subscriber. Some subscribers connect and disconnect first, so that one-time allocations do not count. */
async function measureIdle(name: CandidateName, { start }: Run): Promise<{ resident: number; heap: number }> {
  const scenario = await Scenario.startWithoutSubscribers({ name, size: subscribers }, start);
  try {
    const { server } = scenario.candidate;
    await scenario.connect(500);
    await scenario.disconnect();
    const before = await server.usage('usage after gc');
    await scenario.connect(subscribers);
    const after = await server.usage('usage after gc');
    return {
      resident: (after.rssBytes - before.rssBytes) / subscribers,
      heap: (after.heapBytes - before.heapBytes) / subscribers,
    };
  } finally {
    await scenario.stop();
  }
}
