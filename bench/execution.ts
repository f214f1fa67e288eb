import { isDeepStrictEqual } from 'node:util';
import { executeRootSelectionSet, parse, validateExecutionArgs } from 'graphql';
import { createSchema } from 'graphql-yoga';
import { Execution } from '../src/engine/execution/execution.ts';
import { printHeading } from './support/heading.ts';
import { installPackages } from './support/packages.ts';
import { measureInTurn } from './support/rounds.ts';
import { ratios, spread } from './support/statistics.ts';
import { formatTable } from './support/table.ts';

/* npm run bench -- execution [ROUNDS] */

installPackages();
// A computed path, because TypeScript must not need the packages of the comparison.
const jit: { compileByJit: CompileByJit } = await import(`${import.meta.dirname}/comparison/graphql-jit.ts`);

const rounds = Number(process.argv[2] ?? 9);
const executionsPerRound = 4_000;
const query = '{ users(limit: 10) { id name posts { id title } } }';

type Execute = () => unknown;
type CompileByJit = (typeDefs: string, resolvers: object, query: string) => Execute;

printHeading('execution');
for (const kind of ['sync', 'async']) {
  process.env['RESOLVERS'] = kind;
  const { typeDefs, resolvers } = await import(`./http/memory.ts?${kind}`);
  const args = validateExecutionArgs({ schema: createSchema({ typeDefs, resolvers }), document: parse(query) });
  if (!('schema' in args)) throw new Error('The document is not valid.');
  const executors: Record<string, Execute> = {
    graphql: () => executeRootSelectionSet(args),
    'graphql-jit': jit.compileByJit(typeDefs, resolvers, query),
    Postroom: () => new Execution(args).run(),
  };
  await assertEqual(Object.values(executors));
  const about = `\`${query}\`, ${kind === 'async' ? 'async resolvers' : 'synchronous resolvers'}.`;
  console.log(formatTable({ title: `Execution, ${kind}`, about, rows: describe(await measure(executors)) }));
}

async function assertEqual(all: readonly Execute[]): Promise<void> {
  const results = await Promise.all(all.map(async (execute) => JSON.stringify(await execute())));
  if (results.some((result) => !isDeepStrictEqual(result, results[0]))) throw new Error('The results differ.');
}

/** CPU time per execution in microseconds, one value per round. */
async function measure(executors: Record<string, Execute>): Promise<Map<string, number[]>> {
  const costs = await measureInTurn(Object.values(executors), { rounds, warmUpRounds: 1 }, measureOne);
  return new Map(Object.keys(executors).map((name, index) => [name, costs[index] ?? []]));
}

async function measureOne(execute: Execute): Promise<number> {
  const before = process.cpuUsage();
  for (let count = 0; count < executionsPerRound; count += 1) {
    const result = execute();
    if (result instanceof Promise) await result;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / executionsPerRound;
}

function describe(costs: ReadonlyMap<string, number[]>): Record<string, string>[] {
  const ours = costs.get('Postroom') ?? [];
  return [...costs].map(([executor, own]) => ({
    executor,
    'CPU per execution, µs': spread(own, 1),
    '÷ Postroom': spread(ratios(own, ours)),
  }));
}
