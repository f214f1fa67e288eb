import { isDeepStrictEqual } from 'node:util';
import { type ExecutionResult, executeRootSelectionSet, type GraphQLError, type ValidatedExecutionArgs } from 'graphql';
import { Cancellation } from '../../src/engine/cancellation.ts';
import { executeCompiled } from '../../src/engine/execution/compiled.ts';

export type Executor = (args: ValidatedExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** The two that must not be told apart: graphql's own, and ours. */
export const stock: Executor = executeRootSelectionSet;
export const compiled: Executor = (args) => {
  const { externalAbortSignal: signal } = args;
  const cancellation = new Cancellation();
  if (signal?.aborted) cancellation.cancel(signal.reason);
  signal?.addEventListener('abort', () => cancellation.cancel(signal.reason));
  return executeCompiled(args, { cancellation });
};

/** What can be compared of an error: all that leaves, and what it came from. */
export function formatError(error: GraphQLError) {
  const { message, ...rest } = error.toJSON();
  return { ...rest, message: unquote(message), cause: error.originalError?.name };
}

/** Three of graphql's messages quote the value that a resolver returned; ours say the same without it. */
function unquote(message: string): string {
  return message
    .replace(/( but got): .*\.$/s, '$1 another.')
    .replace(/ with value .*, received ".*", which/s, ' with a value which')
    .replace(
      /coerceOutputValue\(.*\)` to return non-nullable value, .*$/s,
      'coerceOutputValue` to return non-nullable value.',
    );
}

/** The data as plain objects, the order of their keys told. */
export function formatData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formatData);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, item]) => [key, formatData(item)]);
}

export function formatResult({ data, errors }: ExecutionResult) {
  return { data: formatData(data), errors: errors?.map(formatError) };
}

/**
 * Whether two results of the same operation differ only in which of several errors came first. Where resolvers fail in
 * the same moment, the specification leaves open whose error stands for the place that becomes null. So: the data are
 * equal; the same places are null for an error; and every error told is one of those that there are (`all`, of
 * executions that let no error end another's place).
 */
export function differOnlyInRace(one: ExecutionResult, other: ExecutionResult, all: ExecutionResult[]): boolean {
  const possible = new Set(all.flatMap(({ errors = [] }) => errors.map((error) => JSON.stringify(formatError(error)))));
  return (
    isDeepStrictEqual(formatData(one.data), formatData(other.data)) &&
    isDeepStrictEqual(nulledPlaces(one), nulledPlaces(other)) &&
    (other.errors ?? []).every((error) => possible.has(JSON.stringify(formatError(error))))
  );
}

function nulledPlaces({ data, errors = [] }: ExecutionResult): string[] {
  const places = errors.map(({ path = [] }) => {
    let value: unknown = data;
    let length = 0;
    for (; value !== null && length < path.length; length += 1) value = (value as never)[path[length] ?? ''];
    return path.slice(0, length).join('/');
  });
  return [...new Set(places)].sort();
}
