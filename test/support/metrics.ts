import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Postroom } from './postroom.ts';

/** What /metrics says now, by name without the prefix. */
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

/** Where nobody follows anything; the one listener is the process itself. */
export const nothingLeft = { feeds: 0, groups: 0, subscribers: 0, websockets: 0, bus_listeners: 1 };

/** Asks until the counts are as given; ends with the test's own time. */
export async function untilCounts(postroom: Pick<Postroom, 'url'>, counts: Record<string, number>): Promise<void> {
  for (;;) {
    const metrics = await readMetrics(postroom);
    if (Object.entries(counts).every(([name, value]) => metrics[name] === value)) return;
    await pause(20);
  }
}

/** The counts are as given by now. */
export async function expectCounts(postroom: Pick<Postroom, 'url'>, counts: Record<string, number>): Promise<void> {
  expect(await readMetrics(postroom)).toMatchObject(counts);
}
