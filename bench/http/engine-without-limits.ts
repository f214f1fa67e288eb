import {
  type DocumentNode,
  type GraphQLSchema,
  OperationTypeNode,
  parse,
  type ValidatedExecutionArgs,
  validate,
  validateExecutionArgs,
} from 'graphql';
import { toAnswer } from '../../src/engine/answer.ts';
import type { Engine } from '../../src/engine/engine.ts';
import { Execution } from '../../src/engine/execution/execution.ts';
import type { Log } from '../../src/log/log.ts';

/** An engine without rate, limits, cost and timeout. It validates each document once and executes it. */
export function createEngineWithoutLimits(schema: GraphQLSchema, log: Log): Engine {
  const cached = new Map<string, ValidatedExecutionArgs>();
  const find = (query: string) => {
    const args = cached.get(query) ?? prepare(schema, parse(query));
    cached.set(query, args);
    return args;
  };
  return {
    prepare(read, { requestId }) {
      const args = find(read().query ?? '');
      return {
        type: args.operation.operation,
        cachePolicy: { maxAge: 0, isPublic: false },
        execute: () => {
          const result = new Execution({ ...args, contextValue: {} }).run();
          const answer = (done: Awaited<typeof result>) => toAnswer(done, { requestId }, log);
          return result instanceof Promise ? result.then(answer) : answer(result);
        },
        subscribe: () => Promise.reject(new Error('This engine has no subscriptions.')),
      };
    },
    assertNotOverRate: () => {},
    countRateLimited: () => 0,
    chargeAddress: async () => {},
    refuse: (error, request) => toAnswer({ errors: [error] }, request, log),
  };
}

function prepare(schema: GraphQLSchema, document: DocumentNode): ValidatedExecutionArgs {
  const errors = validate(schema, document);
  const args = validateExecutionArgs({ schema, document });
  if (errors.length > 0 || !('schema' in args)) throw new Error('The document is not valid.');
  if (args.operation.operation === OperationTypeNode.SUBSCRIPTION) throw new Error('This engine has no subscriptions.');
  return args;
}
