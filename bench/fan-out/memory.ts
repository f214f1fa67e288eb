import { Audience } from './audience.ts';
import type { ContestantName } from './contestants.ts';
import type { Run } from './rounds.ts';

const subscribers = 10_000;

/** What a subscriber that hears nothing keeps: the growth of a fresh process over one that has had, and lost, a few. */
export async function measureMemory(name: ContestantName, { start }: Run): Promise<{ rss: number; heap: number }> {
  const audience = await Audience.gatherNobody({ name, size: subscribers }, start);
  try {
    const { server } = audience.contestant;
    await audience.connect(500);
    await audience.leave();
    const before = await server.usage('usage after gc');
    await audience.connect(subscribers);
    const after = await server.usage('usage after gc');
    return {
      rss: (after.rssBytes - before.rssBytes) / subscribers,
      heap: (after.heapBytes - before.heapBytes) / subscribers,
    };
  } finally {
    await audience.stop();
  }
}
