import { parseArgs } from 'node:util';
import { writeCosts } from './capacity/costs.ts';
import { measureBus } from './capacity/rows/bus.ts';
import { cases, check } from './capacity/rows/check.ts';
import type { Measured, Run } from './capacity/rows/run.ts';
import { measureStreams } from './capacity/rows/streams.ts';
import { printHeading } from './support/heading.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable } from './support/table.ts';

/*
 * npm run bench -- capacity [ROW …] [--rounds N] [--seconds N] [--subscribers N]: writes capacity/costs.json, which npm run capacity reads.
 * npm run bench -- capacity --check CASE [--seconds N]: compares a run with the prediction, and writes nothing.
 */

const rows: Record<string, (run: Run) => Promise<void>> = {
  sqlite: (run) => record('sqlite', measureStreams('none', run)),
  postgres: (run) => record('postgres', measureStreams('notify', run)),
  notify: (run) => record('notify', measureBus('notify', run)),
  redis: (run) => record('redis', measureBus('redis', run)),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '5' },
    subscribers: { type: 'string', default: '5000' },
    check: { type: 'string' },
  },
});
const selected = selectRows(rows, positionals);
const run = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  subscribers: Number(values.subscribers),
};

printHeading('capacity');
if (values.check === undefined) for (const measure of selected) await measure(run);
else
  for (const name of values.check === 'all' ? Object.keys(cases) : [values.check])
    console.log(formatTable(await check(name, run.seconds)));

async function record(row: string, measuring: Promise<Measured>): Promise<void> {
  const measured = await measuring;
  writeCosts(`capacity ${row}`, measured);
  for (const [name, { value, unit }] of Object.entries(measured))
    console.log(`${name}: ${value.toPrecision(3)} ${unit}`);
}
