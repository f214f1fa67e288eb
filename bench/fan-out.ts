import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { Audience } from './fan-out/audience.ts';
import { installPackages } from './fan-out/packages.ts';
import type { Run } from './fan-out/rounds.ts';
import { rows } from './fan-out/rows/rows.ts';
import { formatTable, formatTargets, type Target } from './fan-out/table.ts';

/* npm run bench -- fan-out [row …] [--rounds n] [--profile folder] */

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, profile: { type: 'string' } },
});
const unknown = positionals.filter((name) => !Object.hasOwn(rows, name));
if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: the rows are ${Object.keys(rows).join(', ')}`);

installPackages();
const nodeOptions = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
const run: Run = { rounds: Number(values.rounds), start: { frameBytes: 0, nodeOptions } };
run.start.frameBytes = await measureFrame();
console.log(`${new Date().toISOString().slice(0, 16)}Z, Node ${process.version}, ${machine()}, ${run.rounds} rounds\n`);
const targets: Target[] = [];
for (const name of positionals.length > 0 ? positionals : Object.keys(rows)) {
  const found = await rows[name]?.(run);
  if (!found) continue;
  targets.push(...found.targets);
  console.log(formatTable(found));
}
if (targets.length > 0) console.log(formatTargets(targets));

/** How long Postroom's event is: so long is the floor's. */
async function measureFrame(): Promise<number> {
  const audience = await Audience.gather({ name: 'postroom', size: 1 }, run.start);
  try {
    return await audience.frameBytes();
  } finally {
    await audience.stop();
  }
}

function machine(): string {
  const all = cpus();
  return `${all.length} × ${all[0]?.model.trim()}, load ${loadavg()[0]?.toFixed(1)}`;
}
