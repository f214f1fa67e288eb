import { parseArgs } from 'node:util';
import type { Run } from './fan-out/rounds.ts';
import { rows } from './fan-out/rows/rows.ts';
import { Scenario } from './fan-out/scenario.ts';
import { printHeading } from './support/heading.ts';
import { installPackages } from './support/packages.ts';
import { selectRows } from './support/select-rows.ts';
import { formatTable, formatTargets, type Target } from './support/table.ts';

/* npm run bench -- fan-out [ROW …] [--rounds N] [--profile FOLDER] */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, profile: { type: 'string' } },
});
const selected = selectRows(rows, positionals);

installPackages();
const nodeOptions = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
const run: Run = { rounds: Number(values.rounds), start: { eventBytes: 0, nodeOptions } };
run.start.eventBytes = await measureEventBytes();
printHeading('fan-out');
const targets: Target[] = [];
for (const measure of selected) {
  const table = await measure(run);
  targets.push(...table.targets);
  console.log(formatTable(table));
}
if (targets.length > 0) console.log(formatTargets(targets));

/** The length of Postroom's event. The raw ws servers send as many bytes. */
async function measureEventBytes(): Promise<number> {
  const scenario = await Scenario.start({ name: 'postroom', size: 1 }, run.start);
  try {
    return await scenario.eventBytes();
  } finally {
    await scenario.stop();
  }
}
