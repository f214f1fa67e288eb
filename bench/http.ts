import { parseArgs } from 'node:util';
import { measureAllocations } from './http/allocations.ts';
import { measureCredentials } from './http/credentials.ts';
import { measureRow, type Run, rows } from './http/rows.ts';
import { printHeading } from './support/heading.ts';
import { assertInstalled } from './support/installed.ts';
import { installPackages } from './support/packages.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable, type Table } from './support/table.ts';

/* npm run bench -- http [ROW …] [--rounds N] [--seconds N] [--profile FOLDER] */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '2' },
    profile: { type: 'string' },
  },
});
const measures: Record<string, (run: Run) => Promise<Table>> = {
  ...Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, (run: Run) => measureRow(row, run)])),
  credentials: measureCredentials,
  allocations: measureAllocations,
};
const selected = selectRows(measures, positionals);

assertInstalled('wrk');
installPackages();
const run = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  nodeOptions: values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`],
};
printHeading('http');
for (const measure of selected) console.log(formatTable(await measure(run)));
