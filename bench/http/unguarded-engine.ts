import { createRequire } from 'node:module';
import type { DocumentNode, GraphQLSchema, ValidatedExecutionArgs } from 'graphql';
import { toAnswer } from '../../src/engine/answer.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Executor } from '../../src/engine/execution/executor.ts';
import type { Log } from '../../src/log.ts';

// What the engine is built on, not the peers' own.
const { OperationTypeNode, parse, validate, validateExecutionArgs }: typeof import('graphql') = createRequire(
  new URL('../../package.json', import.meta.url),
)('graphql');

/** What is left of the engine without rate, limits, cost and time: a document is validated once, and executed. */
export function createUnguardedEngine(schema: GraphQLSchema, log: Log): Engine {
  const executor = new Executor();
  const known = new Map<string, ValidatedExecutionArgs>();
  const find = (query: string) => {
    const args = known.get(query) ?? prepare(schema, parse(query));
    known.set(query, args);
    return args;
  };
  return {
    prepare({ query = '' }, { requestId }) {
      const args = find(query);
      return {
        type: args.operation.operation,
        cachePolicy: { maxAge: 0, isPublic: false },
        execute: () => {
          const result = executor.execute({ ...args, contextValue: {} });
          const answer = (done: Awaited<typeof result>) => toAnswer(done, { requestId }, log);
          return result instanceof Promise ? result.then(answer) : answer(result);
        },
        subscribe: () => Promise.reject(new Error('There are no subscriptions here.')),
      };
    },
    chargeRefused: () => {},
    refuse: (error, request) => toAnswer({ errors: [error] }, request, log),
  };
}

function prepare(schema: GraphQLSchema, document: DocumentNode): ValidatedExecutionArgs {
  const errors = validate(schema, document);
  const args = validateExecutionArgs({ schema, document });
  if (errors.length > 0 || !('schema' in args)) throw new Error('The document is not valid.');
  if (args.operation.operation === OperationTypeNode.SUBSCRIPTION) throw new Error('There are no subscriptions here.');
  return args;
}
