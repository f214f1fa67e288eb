import { createRequire } from 'node:module';
import { isDeepStrictEqual } from 'node:util';
import { Executor } from '../src/engine/execution/executor.ts';
import { printHead } from './data/head.ts';
import { installPackages } from './fan-out/packages.ts';
import { ratios, spread } from './fan-out/statistics.ts';
import { formatTable } from './fan-out/table.ts';

/* npm run bench -- execution [rounds] */

// What the engine is built on, not the peers' own.
const require = createRequire(new URL('../package.json', import.meta.url));
const { createSchema }: typeof import('graphql-yoga') = require('graphql-yoga');
const { executeRootSelectionSet, parse, validateExecutionArgs } = require('graphql');

installPackages();
// By a name that is made, so that types are checked without the peers' packages.
const jit: { compileByJit: CompileByJit } = await import(`${import.meta.dirname}/execution/jit.ts`);

const executor = new Executor();
const rounds = Number(process.argv[2] ?? 9);
const executionsARound = 4_000;
const query = '{ users(limit: 10) { id name posts { id title } } }';

type Execute = () => unknown;
type CompileByJit = (typeDefs: string, resolvers: object, query: string) => Execute;

printHead('execution');
for (const kind of ['sync', 'async']) {
  process.env['RESOLVERS'] = kind;
  const { typeDefs, resolvers } = await import(`./http/memory.ts?${kind}`);
  const args = validateExecutionArgs({ schema: createSchema({ typeDefs, resolvers }), document: parse(query) });
  const contestants: Record<string, Execute> = {
    graphql: () => executeRootSelectionSet(args),
    'graphql-jit': jit.compileByJit(typeDefs, resolvers, query),
    Postroom: () => executor.execute(args),
  };
  await assertEqual(Object.values(contestants));
  const about = `\`${query}\`, ${kind === 'async' ? 'resolvers that are async functions' : 'resolvers that answer at once'}.`;
  console.log(formatTable({ title: `Execution, ${kind}`, about, rows: describe(await measure(contestants)) }));
}

async function assertEqual(all: readonly Execute[]): Promise<void> {
  const results = await Promise.all(all.map(async (execute) => JSON.stringify(await execute())));
  if (results.some((result) => !isDeepStrictEqual(result, results[0]))) throw new Error('The results differ.');
}

/** In turn, so that a busy moment of the machine strikes all: of each, CPU microseconds an execution. */
async function measure(contestants: Record<string, Execute>): Promise<Map<string, number[]>> {
  const costs = new Map(Object.keys(contestants).map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, execute] of Object.entries(contestants)) {
      const cost = await measureOne(execute);
      // The round before the first warms up.
      if (round >= 0) costs.get(name)?.push(cost);
    }
  }
  return costs;
}

async function measureOne(execute: Execute): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < executionsARound; count += 1) {
    const result = execute();
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / executionsARound;
}

function describe(costs: ReadonlyMap<string, number[]>): Record<string, string>[] {
  const ours = costs.get('Postroom') ?? [];
  return [...costs].map(([executor, own]) => ({
    executor,
    'CPU an execution, µs': spread(own, 1),
    '÷ Postroom': spread(ratios(own, ours)),
  }));
}
