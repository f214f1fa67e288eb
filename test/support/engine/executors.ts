import { isDeepStrictEqual } from 'node:util';
import { type ExecutionResult, executeRootSelectionSet, type GraphQLError, type ValidatedExecutionArgs } from 'graphql';
import { Cancellation } from '../../../src/common/cancellation.ts';
import { Execution } from '../../../src/engine/execution/execution.ts';

export type Execute = (args: ValidatedExecutionArgs) => ExecutionResult | Promise<ExecutionResult>;

/** The two executors that must give equal results: the one of graphql and Postroom's own. */
export const stock: Execute = executeRootSelectionSet;
export const compiled: Execute = (args) => {
  const { externalAbortSignal: signal } = args;
  const cancellation = new Cancellation();
  if (signal?.aborted) cancellation.cancel(signal.reason);
  signal?.addEventListener('abort', () => cancellation.cancel(signal.reason));
  return new Execution(args, { cancellation }).run();
};

/** The comparable parts of an error: its serialised form and the name of its original error. */
function formatError(error: GraphQLError) {
  const { message, ...rest } = error.toJSON();
  return { ...rest, message: unquote(message), cause: error.originalError?.name };
}

/**
 * One message of graphql quotes the value that a resolver returned; Postroom's message leaves it out. Postroom has one
 * message for each wrong type of a value, and accepts only arrays as lists.
 */
function unquote(message: string): string {
  return message
    .replace(/^(Abstract type|Runtime Object type) ".*$/s, 'The type of the value is wrong.')
    .replace(/^Expected Iterable, but did not find one for/, 'Expected an array for')
    .replace(
      /coerceOutputValue\(.*\)` to return non-nullable value, .*$/s,
      'coerceOutputValue` to return non-nullable value.',
    );
}

/** The data as nested entries, so that a comparison includes the order of the keys. */
function formatData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(formatData);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value).map(([key, item]) => [key, formatData(item)]);
}

export function formatResult({ data, errors }: ExecutionResult) {
  return { data: formatData(data), errors: errors?.map(formatError) };
}

/**
 * Whether two results of the same operation differ only in which of several errors came first. If several resolvers
 * fail at the same time, the specification does not define which error is reported for the position that becomes null.
 * Therefore the data must be equal, the same positions must be null because of an error, and every reported error must
 * be in `all`, the results of executions in which no error hides another.
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
