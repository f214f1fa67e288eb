import { parseArgs } from 'node:util';
import { rows } from './nodes/rows/rows.ts';
import { printHeading } from './support/heading.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable, formatTargets } from './support/table.ts';

/*
 * npm run bench -- nodes [ROW …] [--rounds N] [--seconds N]. Needs a PostgreSQL server (POSTGRES_URL); some rows need
 * Redis (REDIS_URL), pgbench or wrk.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
});
const selected = selectRows(rows, positionals);

printHeading('nodes');
const run = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
for (const measure of selected) {
  const table = await measure(run);
  console.log(formatTable(table));
  console.log(formatTargets(table.targets));
}
