import { parseArgs } from 'node:util';
import { removeArchives } from './attack/archive.ts';
import type { Attack } from './attack/attack.ts';
import { attacks } from './attack/list.ts';
import { closeCurrentAttack, type Result, runAttack } from './attack/run.ts';
import { describeObservations, formatTable } from './attack/table.ts';

/*
 * npm run attack [-- --only NAME | --list]
 *
 * Starts servers and attacks them over loopback. Each server is the real program in its own process with the default
 * limits. Each attack has a promise. The table shows whether the promise held, the growth of the server's resident
 * memory, the memory that is retained after garbage collection, and the longest block of the event loop.
 * The exit status is 1 when a promise is broken. An attack takes at most 60 s, and all of them at most ten minutes.
 *
 * Some attacks mount a small tmpfs file system, which requires root.
 */

const maxMinutes = 10;

const { values } = parseArgs({ options: { only: { type: 'string' }, list: { type: 'boolean', default: false } } });
const chosen = choose(values.only);

if (values.list) list();
else if (chosen.length === 0) refuse(values.only ?? '');
else process.exitCode = (await runAll(chosen)) ? 0 : 1;

/** The attack with this name, or else all attacks whose names contain it. */
function choose(name = ''): readonly Attack[] {
  const exact = attacks.filter((attack) => attack.name === name);
  return exact.length > 0 ? exact : attacks.filter((attack) => attack.name.includes(name));
}

function list(): void {
  for (const { name, promise } of attacks) console.log(`${name.padEnd(28)}${promise}`);
}

function refuse(name: string): void {
  console.error(`There is no attack "${name}"; use --list to show all attacks.`);
  process.exitCode = 1;
}

/** Whether every attack ran and every promise held. */
async function runAll(chosen: readonly Attack[]): Promise<boolean> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => void stopOnSignal());
  const end = performance.now() + maxMinutes * 60_000;
  const results: Result[] = [];
  for (const attack of chosen) {
    if (performance.now() > end) break;
    const result = await runAttack(attack);
    results.push(result);
    const outcome = result.findings.faults.length === 0 ? 'held  ' : 'BROKEN';
    console.log(`${outcome}  ${attack.name.padEnd(28)}${describeObservations(result)}`);
  }
  removeArchives();
  const broken = results.filter(({ findings }) => findings.faults.length > 0);
  console.log(`\n${formatTable(results)}\n`);
  console.log(
    `${results.length - broken.length} held, ${broken.length} broken, ${chosen.length - results.length} not run`,
  );
  for (const { attack } of broken) console.log(`  ${attack.name}: ${attack.promise}`);
  return broken.length === 0 && results.length === chosen.length;
}

async function stopOnSignal(): Promise<void> {
  await closeCurrentAttack();
  removeArchives();
  process.exit(130);
}
