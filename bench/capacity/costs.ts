import { readFileSync, writeFileSync } from 'node:fs';

/** A measured cost. `command` repeats the measurement. */
interface Cost {
  value: number;
  unit: string;
  command: string;
  date: string;
}

const file = new URL('./costs.json', import.meta.url);

export type Costs = Record<string, Cost>;

export function readCosts(): Costs {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Replaces the costs with these names. `bench`: the arguments of `npm run bench --` that measure them. */
export function writeCosts(bench: string, measured: Record<string, { value: number; unit: string }>): void {
  const date = new Date().toISOString().slice(0, 10);
  const command = `npm run bench -- ${bench}`;
  const costs = readCosts();
  for (const [name, { value, unit }] of Object.entries(measured))
    costs[name] = { value: Number(value.toPrecision(3)), unit, command, date };
  const sorted = Object.fromEntries(Object.entries(costs).sort(([one], [other]) => one.localeCompare(other)));
  writeFileSync(file, `${JSON.stringify(sorted, undefined, 2)}\n`);
}
