import { parseArgs } from 'node:util';
import { rows } from './nodes/rows/rows.ts';
import { printHeading } from './support/heading.ts';
import { formatTable, formatTargets } from './support/table.ts';

/*
 * npm run bench -- nodes [ROW …] [--rounds N] [--seconds N]. Needs a PostgreSQL server (POSTGRES_URL); some rows need
 * Redis (REDIS_URL), pgbench or wrk.
 */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(rows, name));
if (unknown.length > 0) {
  throw new Error(`There is no row ${unknown.join(', ')}. The rows are ${Object.keys(rows).join(', ')}.`);
}

printHeading('nodes');
const run = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
for (const name of positionals.length > 0 ? positionals : Object.keys(rows)) {
  const table = await rows[name]?.(run);
  if (!table) continue;
  console.log(formatTable(table));
  console.log(formatTargets(table.targets));
}
