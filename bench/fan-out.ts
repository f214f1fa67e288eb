import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Audience } from './fan-out/audience.ts';
import type { Run } from './fan-out/rounds.ts';
import { rows } from './fan-out/rows.ts';
import { formatTable } from './fan-out/table.ts';

/* npm run bench -- fan-out [row …] [--rounds n] [--profile folder] */

const folder = fileURLToPath(new URL('.', import.meta.url));

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' }, profile: { type: 'string' } },
});
const chosen = positionals.filter((name) => name !== 'fan-out');
const unknown = chosen.filter((name) => !Object.hasOwn(rows, name));
if (unknown.length > 0) throw new Error(`${unknown.join(', ')}: the rows are ${Object.keys(rows).join(', ')}`);

if (!existsSync(`${folder}node_modules`)) {
  execFileSync('npm', ['ci', '--no-fund', '--no-audit', '--prefix', folder], { stdio: 'inherit' });
}
const nodeOptions = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`];
const run: Run = { rounds: Number(values.rounds), start: { frameBytes: 0, nodeOptions } };
run.start.frameBytes = await measureFrame();
console.log(`fan-out, ${new Date().toISOString().slice(0, 10)}, Node ${process.version}, ${machine()}\n`);
for (const name of chosen.length > 0 ? chosen : Object.keys(rows)) {
  const table = await rows[name]?.(run);
  if (table) console.log(formatTable(table));
}

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
  return `${all.length} × ${all[0]?.model.trim()}`;
}
