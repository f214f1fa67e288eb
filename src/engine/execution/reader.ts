import { GraphQLBoolean, GraphQLID, GraphQLInt, type GraphQLOutputType, GraphQLString, getNullableType } from 'graphql';
import type { AnswerSize } from '../limits/answer-size.ts';

/** The part of a field's plan that reading its property depends on. */
interface ReadableField {
  responseName: string;
  field: { name: string; type: GraphQLOutputType };
  completion: { isNonNull: boolean };
  resolve: unknown;
}

/**
 * Creates the answer's object for a source if the source's own properties are the values of the first fields without
 * any conversion. The values of the other fields are undefined until they are executed. For any other source it passes
 * the values that it read to `keep`, and returns undefined. The characters of the values are added to `size`, without
 * those of the object's keys.
 */
export type Reader = (
  source: unknown,
  keep: (read: PartlyRead) => undefined,
  size: AnswerSize,
) => Record<string, unknown> | undefined;

/**
 * The properties that were read before one of them turned out not to be simple. They are not read a second time,
 * because a getter may have effects.
 */
export interface PartlyRead {
  source: unknown;
  values: readonly unknown[];
  /** How many of the values were read. */
  count: number;
  /** Whether reading the next property failed, with `error`. */
  hasFailed: boolean;
  error: unknown;
}

/** The property of the field at `index`, unless it was read before. @throws the error of the earlier read. */
export function readProperty(
  source: unknown,
  { field }: ReadableField,
  read: PartlyRead | undefined,
  index: number,
): unknown {
  if (read) {
    if (index < read.count) return read.values[index];
    if (index === read.count && read.hasFailed) throw read.error;
  }
  const isObject = (typeof source === 'object' && source !== null) || typeof source === 'function';
  return isObject ? (source as Record<string, unknown>)[field.name] : undefined;
}

/** For each built-in scalar, the code that checks whether the scalar leaves a value unchanged. */
const asIs = new Map<GraphQLOutputType, (variable: string) => string>([
  [GraphQLString, isString],
  [GraphQLID, isString],
  [GraphQLBoolean, (variable) => `typeof ${variable} === 'boolean'`],
  [GraphQLInt, (variable) => `typeof ${variable} === 'number' && (${variable} | 0) === ${variable}`],
]);

function isString(variable: string): string {
  return `typeof ${variable} === 'string'`;
}

function findCheck({ field, resolve }: ReadableField): ((variable: string) => string) | undefined {
  return resolve ? undefined : asIs.get(getNullableType(field.type));
}

/** The length of a string with its quotes, or of null; any other value counts as one character. */
function printLength({ field, completion }: ReadableField, variable: string): string {
  const type = getNullableType(field.type);
  if (type !== GraphQLString && type !== GraphQLID) return '1';
  return completion.isNonNull ? `${variable}.length + 2` : `(${variable}?.length ?? 2) + 2`;
}

/**
 * The number of fields before the first field that is not an own property of the source with a built-in scalar type.
 */
export function countSimple(fields: readonly ReadableField[]): number {
  const first = fields.findIndex((field) => !findCheck(field));
  return first < 0 ? fields.length : first;
}

/**
 * Compiles `(source) => ({ id: source.id, … })` for this selection. V8 then knows the location of each property, which
 * it cannot know in code that all selections share. The only text of the request in this code is response names, and
 * their syntax is that of GraphQL names.
 */
export function compileReader(fields: readonly ReadableField[]): Reader {
  const simple = fields.slice(0, countSimple(fields));
  const variables = simple.map((_, index) => `value${index}`);
  const reads = simple.map(({ field }, index) => `value${index} = source.${field.name}; count = ${index + 1};`);
  const checks = simple.map((plan, index) => `(${printCheck(plan, `value${index}`)})`);
  const lengths = simple.map((plan, index) => printLength(plan, `value${index}`));
  const entries = fields.map(({ responseName, completion }, index) => {
    // As a plain key, `__proto__` would set the prototype.
    const key = responseName === '__proto__' ? '["__proto__"]' : responseName;
    if (index >= simple.length) return `${key}: undefined`;
    return `${key}: value${index}${completion.isNonNull ? '' : ' ?? null'}`;
  });
  const code = `
    if (typeof source !== 'object' || source === null || source instanceof Error) return undefined;
    if (typeof source.then === 'function') return undefined;
    let ${['count = 0', 'error', ...variables].join(', ')};
    try { ${reads.join(' ')} } catch (thrown) { error = thrown; }
    if (${[`count === ${simple.length}`, ...checks].join(' && ')}) {
      size.characters += ${['0', ...lengths].join(' + ')};
      return { ${entries.join(', ')} };
    }
    return keep({ source, values: [${variables.join(', ')}], count, hasFailed: count < ${simple.length}, error });`;
  try {
    return new Function('source', 'keep', 'size', code) as Reader;
  } catch {
    // The process does not allow code generation from strings.
    return () => undefined;
  }
}

function printCheck(plan: ReadableField, variable: string): string {
  const check = findCheck(plan)?.(variable);
  return plan.completion.isNonNull ? `${check}` : `${variable} == null || ${check}`;
}
