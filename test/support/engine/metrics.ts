import parse, { type Family, type Sample } from 'parse-prometheus-text-format';
import { expect } from 'vitest';
import { isPostgresTest } from '../database/test-database.ts';
import type { Postroom } from '../server/postroom.ts';

type Served = Pick<Postroom, 'url'>;

/** The current values of /metrics, by name without the prefix. */
export async function readMetrics(postroom: Served): Promise<Record<string, number>> {
  const response = await fetch(`${postroom.url}/metrics`);
  const lines = (await response.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(
    lines.map((line) => {
      const [name = '', value] = line.split(' ');
      return [name.replace(/^postroom_/, ''), Number(value)];
    }),
  );
}

async function readText({ url }: Served): Promise<string> {
  return (await fetch(url.endsWith('/metrics') ? url : `${url}/metrics`)).text();
}

/** The metrics as a parser of the format reads them, by name. */
export async function parseMetrics(postroom: Served): Promise<Map<string, Family>> {
  return new Map(parse(await readText(postroom)).map((family) => [family.name, family]));
}

/** All series of one name; those of a histogram have the names of its parts, such as `…_bucket`. */
export async function readSamples(postroom: Served, name: string): Promise<Sample[]> {
  // The parser merges the series of a histogram that have different labels.
  const text = (await readText(postroom)).replaceAll(/^# TYPE (\S+) histogram$/gm, '');
  return parse(text).flatMap((family) => (family.name === name ? family.metrics : []));
}

/** The values of one name that are not 0, by the values of its labels. */
export async function readSeries(postroom: Served, name: string): Promise<Record<string, number>> {
  const samples = await readSamples(postroom, name);
  const entries = samples.map(({ labels = {}, value }): [string, number] => [
    Object.values(labels).join(' '),
    Number(value),
  ]);
  return Object.fromEntries(entries.filter(([, value]) => value !== 0));
}

/** The listeners of a node on its bus: one, and on a bus that reaches other nodes one for their questions. */
export const ownListeners = isPostgresTest ? 2 : 1;

/** The counts without any subscription. */
export const nothingLeft = { feeds: 0, groups: 0, subscribers: 0, websockets: 0, bus_listeners: ownListeners };

/** Polls until the counts match. */
export async function untilCounts(postroom: Served, counts: Record<string, number>): Promise<void> {
  await expect.poll(() => readMetrics(postroom), { interval: 20 }).toMatchObject(counts);
}
