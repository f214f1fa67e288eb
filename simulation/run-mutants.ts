import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Mutant, mutants, readMutated } from './mutants.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));

/** Runs the simulator on copies of the source, each with one defect, and prints the seed that finds it. */
export function runMutants(name: string, seeds: number): void {
  const chosen = mutants.filter((mutant) => name === 'all' || mutant.name === name);
  if (chosen.length === 0) {
    console.error(
      `--mutants ${name}: there is no such mutant. There are:\n${mutants.map((mutant) => mutant.name).join('\n')}`,
    );
    process.exitCode = 2;
  }
  for (const mutant of chosen) {
    const found = findDefect(mutant, seeds);
    console.log(`${found ?? `not found in ${seeds} seeds`} | ${mutant.name}`);
    if (found === undefined) process.exitCode = 1;
  }
}

function simulate(program: string, ...options: string[]) {
  return spawnSync(process.execPath, [program, ...options, '--quick'], { encoding: 'utf8' });
}

/** The seed and what it reports; undefined if no seed finds the defect. */
function findDefect(mutant: Mutant, seeds: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'postroom-mutant-'));
  try {
    for (const part of [
      'src',
      'simulation',
      'examples/extensions',
      'packages/client/src',
      'schema.graphql',
      'package.json',
    ])
      cpSync(join(repository, part), join(folder, part), { recursive: true });
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'src', mutant.file), readMutated(folder, mutant));
    const program = join(folder, 'simulation/main.ts');
    const { stdout, stderr } = simulate(program, '--seeds', String(seeds));
    const [, seed, defect] = /^Defect with seed (\d+), found in step [^:]*: (.*)/m.exec(stdout) ?? [];
    if (seed === undefined && !stdout.includes('no defect')) throw new Error(stderr);
    if (
      seed !== undefined &&
      !simulate(join(repository, 'simulation/main.ts'), '--seed', seed).stdout.includes('no defect')
    )
      throw new Error(`Seed ${seed} has a defect without a mutant, too.`);
    return seed === undefined ? undefined : `seed ${seed}: ${defect}`;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
