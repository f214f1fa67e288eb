import { parseArgs } from 'node:util';
import { printHeading } from './support/heading.ts';
import { assertInstalled } from './support/installed.ts';
import { installPackages } from './support/packages.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable, formatTargets } from './support/table.ts';
import { rows } from './writes/rows.ts';

/* npm run bench -- writes [ROW …] [--rounds N] [--seconds N] */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, seconds: { type: 'string', default: '2' } },
});
const selected = selectRows(rows, positionals);

assertInstalled('wrk');
installPackages();
printHeading('writes');
const run = { rounds: Number(values.rounds), seconds: Number(values.seconds) };
for (const measure of selected) {
  const table = await measure(run);
  console.log(formatTable(table));
  console.log(formatTargets(table.targets));
}
