import { parseArgs } from 'node:util';
import { measureCredentials } from './http/credentials.ts';
import { assertWrk } from './http/load.ts';
import { measureRow, type Run, rows } from './http/rows.ts';
import { printHeading } from './support/heading.ts';
import { installPackages } from './support/packages.ts';
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
};
const unknown = positionals.filter((name) => !Object.hasOwn(measures, name));
if (unknown.length > 0) {
  throw new Error(`There is no row ${unknown.join(', ')}. The rows are ${Object.keys(measures).join(', ')}.`);
}

assertWrk();
installPackages();
const run = {
  rounds: Number(values.rounds),
  seconds: Number(values.seconds),
  nodeOptions: values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`],
};
printHeading('http');
for (const name of positionals.length > 0 ? positionals : Object.keys(measures)) {
  const measure = measures[name];
  if (measure) console.log(formatTable(await measure(run)));
}
