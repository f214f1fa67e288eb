import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type DocumentNode, type ExecutionResult, OperationTypeNode, parse, validateExecutionArgs } from 'graphql';
import { expect, it } from 'vitest';
import { type GeneratedRequest, requests } from './support/documents.ts';
import { compiled, differOnlyInRace, type Execute, formatResult, stock } from './support/executors.ts';
import { StreamFixture, schema, type WorldOptions } from './support/nasty-schema.ts';
import { isSoak } from './support/soak.ts';
import { collectUnhandledRejections } from './support/unhandled-rejections.ts';

/*
 * Generated operations on a schema whose resolvers fail in every way, by graphql's own executor and by ours. Each document
 * runs with several sets of variables, so that what is compiled for one is used for the next.
 */

const kinds = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION] as const;
const generated = requests(schema, { kinds });
const unhandled = collectUnhandledRejections();
const timeout = 120_000;

/** Stops the search for a smaller counterexample before the timeout, so that the one that was found is reported. */
const limits = { interruptAfterTimeLimit: timeout / 2, markInterruptAsFailure: true };

function worlds(isOrdered: boolean): fc.Arbitrary<WorldOptions> {
  return fc.record({
    seed: fc.nat(),
    faults: fc.constantFrom(4, 0, 1, 15),
    delays: fc.constantFrom(30, 0, 5, 70),
    isOrdered: fc.constant(isOrdered),
  });
}

/** An operation with its variables, in its world. */
interface Case {
  document: DocumentNode;
  request: GeneratedRequest;
  variables: Record<string, unknown>;
  options: WorldOptions;
  errorPropagation?: boolean;
  /** Aborted after so many promises have settled. */
  abortAfter?: number;
}

interface Observed {
  result: ExecutionResult | undefined;
  rejection: unknown;
  /** Which resolvers were called, with what, in order. */
  log: string[];
  /** How long the log was when it was aborted. */
  callsBeforeAbort: number;
}

const reason = new Error('The client left.');

async function observe(execute: Execute, one: Case): Promise<Observed | undefined> {
  const { document, request, variables: variableValues, options, errorPropagation = true, abortAfter } = one;
  const abort = new AbortController();
  const { operationName } = request;
  const args = validateExecutionArgs({ schema, document, variableValues, operationName, abortSignal: abort.signal });
  if (!('schema' in args)) return undefined;
  const world = new StreamFixture(options);
  const rootType = schema.getRootType(request.kind);
  const rootValue = rootType && world.createObject(rootType, 'root', world.dice('root'));
  const observed: Observed = { result: undefined, rejection: undefined, log: world.log, callsBeforeAbort: 0 };
  const running = (async () => execute({ ...args, contextValue: world, rootValue, errorPropagation }))().then(
    (result) => {
      observed.result = result;
    },
    (error: unknown) => {
      observed.rejection = error;
    },
  );
  await world.ticking.run((ticks) => {
    if (ticks !== abortAfter) return;
    observed.callsBeforeAbort = world.log.length;
    if (observed.result === undefined) abort.abort(reason);
  });
  await running;
  return observed;
}

/** The same document with one set of variables, the other, and the first again. */
function casesOf(request: GeneratedRequest, options: WorldOptions): Case[] {
  const document = parse(request.query);
  const { variables, otherVariables } = request;
  return [variables, otherVariables, variables].map((given, index) => {
    return { document, request, variables: given, options: { ...options, seed: options.seed + index } };
  });
}

function areEqual(one: ExecutionResult, other: ExecutionResult): boolean {
  return isDeepStrictEqual(formatResult(one), formatResult(other));
}

/** Executions that let no error end another's place; which errors they tell depends on the order all the same. */
async function findAllErrors(one: Case): Promise<ExecutionResult[]> {
  const results: ExecutionResult[] = [];
  for (const isOrdered of [false, true]) {
    for (const errorPropagation of [false, true]) {
      const observed = await observe(stock, { ...one, options: { ...one.options, isOrdered }, errorPropagation });
      if (observed?.result) results.push(observed.result);
    }
  }
  return results;
}

it(
  'data, errors, their order and the calls of resolvers equal those of graphql, where no two promises race',
  async () => {
    const property = fc.asyncProperty(generated, worlds(true), async (request, options) => {
      for (const one of casesOf(request, options)) {
        const expected = await observe(stock, one);
        unhandled.clear();
        const actual = await observe(compiled, one);
        if (!expected?.result || !actual?.result) expect(actual?.result).toBe(expected?.result);
        else expect(formatResult(actual.result)).toEqual(formatResult(expected.result));
        expect(actual?.log).toEqual(expected?.log);
        expect(unhandled.reasons).toEqual([]);
      }
    });
    await fc.assert(property, { ...limits, numRuns: isSoak ? 700 : 175 });
  },
  timeout,
);

it(
  'where promises race, the data equal those of graphql, and each null has one of the possible errors',
  async () => {
    const property = fc.asyncProperty(generated, worlds(false), async (request, options) => {
      for (const one of casesOf(request, options)) {
        const expected = await observe(stock, one);
        unhandled.clear();
        const actual = await observe(compiled, one);
        expect(unhandled.reasons).toEqual([]);
        expect(actual?.result === undefined).toBe(expected?.result === undefined);
        if (!actual?.result || !expected?.result || areEqual(actual.result, expected.result)) continue;
        const isSame = differOnlyInRace(expected.result, actual.result, await findAllErrors(one));
        if (!isSame) expect(formatResult(actual.result)).toEqual(formatResult(expected.result));
      }
    });
    await fc.assert(property, { ...limits, numRuns: isSoak ? 500 : 125 });
  },
  timeout,
);

it(
  'an abort at any moment rejects with its reason, as in graphql, and no resolver is called from then on',
  async () => {
    const property = fc.asyncProperty(
      generated,
      worlds(true),
      fc.integer({ min: 1, max: 12 }),
      async (request, options, abortAfter) => {
        for (const one of casesOf(request, { ...options, delays: 60 })) {
          const expected = await observe(stock, { ...one, abortAfter });
          unhandled.clear();
          const actual = await observe(compiled, { ...one, abortAfter });
          if (!actual || !expected) continue;
          expect(actual.result === undefined).toBe(expected.result === undefined);
          expect(actual.log).toEqual(expected.log);
          if (actual.result === undefined) {
            expect(actual.rejection).toBe(reason);
            expect(actual.log.length).toBe(actual.callsBeforeAbort);
          }
          expect(unhandled.reasons).toEqual([]);
        }
      },
    );
    await fc.assert(property, { ...limits, numRuns: isSoak ? 400 : 100 });
  },
  timeout,
);
