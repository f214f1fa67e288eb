import { expect } from 'vitest';
import type { Postroom } from './postroom.ts';

/** The current values of /metrics, by name without the prefix. */
export async function readMetrics(postroom: Pick<Postroom, 'url'>): Promise<Record<string, number>> {
  const response = await fetch(`${postroom.url}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value] = line.split(' ');
      return [name.replace(/^postroom_/, ''), Number(value)];
    }),
  );
}

/** The counts without any subscription; the one bus listener is the process itself. */
export const nothingLeft = { feeds: 0, groups: 0, subscribers: 0, websockets: 0, bus_listeners: 1 };

/** Polls until the counts match. */
export async function untilCounts(postroom: Pick<Postroom, 'url'>, counts: Record<string, number>): Promise<void> {
  await expect.poll(() => readMetrics(postroom), { timeout: 20_000, interval: 20 }).toMatchObject(counts);
}
