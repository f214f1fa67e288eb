import { Audience } from '../audience.ts';
import { type ContestantName, titles } from '../contestants.ts';
import type { Run } from '../rounds.ts';
import { ratios, spread } from '../statistics.ts';
import type { Found } from '../table.ts';

const subscribers = 10_000;
const names: ContestantName[] = ['raw-ws', 'graphql-ws', 'postroom'];
/** A round starts each contestant anew, and its figures hardly differ. */
const maxRounds = 3;

export async function memory(run: Run): Promise<Found> {
  const measured = names.map((name) => ({ name, resident: [] as number[], heap: [] as number[] }));
  for (let round = 0; round < Math.min(maxRounds, run.rounds); round += 1) {
    for (const { name, resident, heap } of measured) {
      const bytes = await measureIdle(name, run);
      resident.push(bytes.resident / 1_024);
      heap.push(bytes.heap / 1_024);
    }
  }
  const floor = measured.find(({ name }) => name === 'graphql-ws')?.resident ?? [];
  const own = measured.find(({ name }) => name === 'postroom')?.resident ?? [];
  return {
    title: 'Memory of an idle subscriber',
    about: '10,000 subscribers in one process, after garbage collection.',
    rows: measured.map(({ name, resident, heap }) => ({
      contestant: titles[name],
      'resident KiB a subscriber': spread(resident, 1),
      'of it V8 heap and external': spread(heap, 1),
      '÷ ws + graphql-ws': spread(ratios(resident, floor)),
    })),
    targets: [{ what: 'memory, Postroom ÷ (ws + graphql-ws)', ratios: ratios(own, floor), atMost: 1.5 }],
  };
}

/** What a subscriber that hears nothing keeps: the growth of a process that has had, and lost, a few before. */
async function measureIdle(name: ContestantName, { start }: Run): Promise<{ resident: number; heap: number }> {
  const audience = await Audience.gatherNobody({ name, size: subscribers }, start);
  try {
    const { server } = audience.contestant;
    await audience.connect(500);
    await audience.leave();
    const before = await server.usage('usage after gc');
    await audience.connect(subscribers);
    const after = await server.usage('usage after gc');
    return {
      resident: (after.rssBytes - before.rssBytes) / subscribers,
      heap: (after.heapBytes - before.heapBytes) / subscribers,
    };
  } finally {
    await audience.stop();
  }
}
