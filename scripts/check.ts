import { checkAdvisories, Skipped } from './check/advisories.ts';
import { checkCopies } from './check/copies.ts';
import { checkDescriptions } from './check/descriptions.ts';
import { checkEvolution } from './check/evolution.ts';
import { checkExportedNames } from './check/exported-names.ts';
import { checkImports } from './check/imports.ts';
import { checkLimits } from './check/limits.ts';
import { checkLinks } from './check/links.ts';
import { checkMutants } from './check/mutants.ts';
import { checkNames } from './check/names.ts';
import { checkSamples } from './check/samples.ts';
import { lintSchema } from './check/schema-lint.ts';
import { checkSettings } from './check/settings.ts';
import { checkGenerated } from './generate.ts';
import { runInstalled, type Tool } from './repository.ts';

/** The steps of the check. Each returns the problems that it found, or throws Skipped. */
const steps: Record<string, () => Promise<string[]>> = {
  types: () => runTool('tsc', ['-p', '.']),
  'types of @postroom/client': () => runTool('tsc', ['-p', 'packages/client']),
  'types of the pages': () => runTool('tsc', ['-p', 'packages/pages']),
  'lint, format, import cycles': () => runTool('biome', ['check', '--error-on-warnings', '.']),
  'unused code and packages': () => runTool('knip', ['--no-progress']),
  'advisories about packages': () => checkAdvisories(),
  'generated code': checkGenerated,
  'import directions': () => checkImports(),
  'exported names': () => checkExportedNames(),
  'schema descriptions': checkDescriptions,
  'rules for schemas': lintSchema,
  'changes since the last release': () => checkEvolution(),
  'links in the documentation': () => checkLinks(),
  'samples in the documentation': () => checkSamples(),
  'samples of clients': () => checkCopies(),
  'settings in the documentation': () => checkSettings(),
  'limits in the documentation': () => checkLimits(),
  'names in the documentation': () => checkNames(),
  'mutants of the simulator': () => checkMutants(),
};

async function runTool(tool: Tool, args: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await runInstalled(tool, args);
  return status === 0 ? [] : [`${stdout}${stderr}`.trim() || `${tool} exited with status ${status}`];
}

async function findProblems(step: () => Promise<string[]>): Promise<string[] | Skipped> {
  return step().catch((error: unknown) => (error instanceof Skipped ? error : [String(error)]));
}

function report(name: string, problems: string[] | Skipped): void {
  if (problems instanceof Skipped) console.log(`skipped ${name}: ${problems.message}`);
  else if (problems.length === 0) console.log(`ok      ${name}`);
  else console.log(`failed  ${name}\n${problems.join('\n').replace(/^(?=.)/gm, '        ')}`);
}

// All steps start at once; they are reported in the order of the list.
const running = Object.entries(steps).map(([name, step]) => ({ name, found: findProblems(step) }));
for (const { name, found } of running) {
  const problems = await found;
  report(name, problems);
  if (!(problems instanceof Skipped) && problems.length > 0) process.exitCode = 1;
}
