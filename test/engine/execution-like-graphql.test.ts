import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { type DocumentNode, type ExecutionResult, OperationTypeNode, parse, validateExecutionArgs } from 'graphql';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type GeneratedRequest, requests } from '../support/clients/documents.ts';
import { compiled, differOnlyInRace, type Execute, formatResult, stock } from '../support/engine/executors.ts';
import { StreamFixture, schema, type WorldOptions } from '../support/engine/nasty-schema.ts';
import { isSoak } from '../support/run/soak.ts';
import { collectUnhandledRejections } from '../support/server/unhandled-rejections.ts';

/*
 * The executor of graphql-js and our executor run generated operations on a schema whose resolvers fail in every way.
 * Each document runs with several sets of variables, so that the operation compiled for one set is used for the next.
 */

const kinds = [OperationTypeNode.QUERY, OperationTypeNode.MUTATION, OperationTypeNode.SUBSCRIPTION] as const;
const generated = requests(schema, { kinds });
const unhandled = collectUnhandledRejections();
const timeout = 120_000;

// On a busy machine Postroom yields between the root fields of a mutation, and graphql-js does not.
beforeAll(() => void vi.spyOn(performance, 'now').mockReturnValue(performance.now()));
afterAll(() => vi.restoreAllMocks());

/** Stops the search for a smaller counterexample before the timeout, so that the last counterexample is reported. */
const limits = { interruptAfterTimeLimit: timeout / 2, markInterruptAsFailure: true };

function worlds(isOrdered: boolean): fc.Arbitrary<WorldOptions> {
  return fc.record({
    seed: fc.nat(),
    faults: fc.constantFrom(4, 0, 1, 15),
    delays: fc.constantFrom(30, 0, 5, 70),
    isOrdered: fc.constant(isOrdered),
  });
}

/** An operation with its variables, and the options of its resolvers. */
interface Case {
  document: DocumentNode;
  request: GeneratedRequest;
  variables: Record<string, unknown>;
  options: WorldOptions;
  errorPropagation?: boolean;
  /** The number of settled promises after which the execution is aborted. */
  abortAfter?: number;
}

interface Observed {
  result: ExecutionResult | undefined;
  rejection: unknown;
  /** The calls of resolvers with their arguments, in order. */
  log: string[];
  /** The length of the log when the execution was aborted. */
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
  await world.ticking.run(running, (ticks) => {
    if (ticks !== abortAfter) return;
    observed.callsBeforeAbort = world.log.length;
    if (observed.result === undefined) abort.abort(reason);
  });
  return observed;
}

/** The same document with one set of variables, then with the other set, and then with the first set again. */
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

/**
 * Results with and without error propagation, because without it no error hides another error. The reported errors also
 * depend on the order in which promises settle, so each mode runs in two orders.
 */
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
