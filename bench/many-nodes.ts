import { parseArgs } from 'node:util';
import { measureBuses } from './many-nodes/bus.ts';
import { measureHeads } from './many-nodes/heads.ts';
import { measurePresence } from './many-nodes/presence.ts';
import { printHeading } from './support/heading.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable } from './support/table.ts';

/* npm run bench -- many-nodes [ROW …] [--nodes N] [--seconds N]. Needs PostgreSQL and Redis, of which it starts its own. */

const rows = { bus: measureBuses, heads: measureHeads, presence: measurePresence };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { nodes: { type: 'string', default: '100' }, seconds: { type: 'string', default: '4' } },
});
const selected = selectRows(rows, positionals);

printHeading('many-nodes');
const run = { nodes: Number(values.nodes), seconds: Number(values.seconds) };
for (const measure of selected) console.log(formatTable(await measure(run)));
