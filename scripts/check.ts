import { checkDescriptions } from './check-descriptions.ts';
import { checkEnvironment } from './check-environment.ts';
import { checkImports } from './check-imports.ts';
import { checkGenerated } from './generate.ts';
import { runInstalled } from './repository.ts';

/** What each step promises; a step returns what is wrong. */
const steps: Record<string, () => Promise<string[]>> = {
  types: () => complaintsOf('tsc', ['-p', '.']),
  'lint and format': () => complaintsOf('biome', ['check', '--error-on-warnings', '.']),
  'generated code is fresh': checkGenerated,
  'imports run one way': () => checkImports(),
  'one reader of the environment': () => checkEnvironment(),
  'the schema describes itself': checkDescriptions,
};

async function complaintsOf(command: string, args: string[]): Promise<string[]> {
  const { status, stdout, stderr } = await runInstalled(command, args);
  return status === 0 ? [] : [`${stdout}${stderr}`.trim() || `${command} ended with ${status}`];
}

async function findProblems(step: () => Promise<string[]>): Promise<string[]> {
  return step().catch((error: unknown) => [String(error)]);
}

function report(name: string, problems: string[]): void {
  if (problems.length === 0) console.log(`ok      ${name}`);
  else console.log(`failed  ${name}\n${problems.join('\n').replace(/^(?=.)/gm, '        ')}`);
}

// All begin at once; the report keeps the order of the list.
const running = Object.entries(steps).map(([name, step]) => ({ name, found: findProblems(step) }));
for (const { name, found } of running) {
  const problems = await found;
  report(name, problems);
  if (problems.length > 0) process.exitCode = 1;
}
