import { GraphQLBoolean, GraphQLID, GraphQLInt, type GraphQLOutputType, GraphQLString, getNullableType } from 'graphql';
import type { AnswerSize } from '../limits/answer-size.ts';
import type { FieldPlan } from './plan.ts';

/**
 * Makes the answer's object for a source whose own properties are the values of its first fields as they stand; those of
 * the others are undefined, and yet to come. For any other source it tells `keep` what it read, and returns undefined.
 * What it makes is added to `size`, but for the object's keys.
 */
export type Reader = (
  source: unknown,
  keep: (read: PartlyRead) => undefined,
  size: AnswerSize,
) => Record<string, unknown> | undefined;

/** The properties that were read before one turned out not to be simple: each is read once, whatever comes of it. */
export interface PartlyRead {
  source: unknown;
  values: readonly unknown[];
  /** How many of the values were read. */
  count: number;
  /** Whether to read the next one failed, with `error`. */
  hasFailed: boolean;
  error: unknown;
}

/** The property of the field at `index`, unless it was read already. @throws what it threw then. */
export function readProperty(
  source: unknown,
  { field }: FieldPlan,
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

/** For built-in scalars, which values of a variable they leave as they are. */
const asIs = new Map<GraphQLOutputType, (variable: string) => string>([
  [GraphQLString, isString],
  [GraphQLID, isString],
  [GraphQLBoolean, (variable) => `typeof ${variable} === 'boolean'`],
  [GraphQLInt, (variable) => `typeof ${variable} === 'number' && (${variable} | 0) === ${variable}`],
]);

function isString(variable: string): string {
  return `typeof ${variable} === 'string'`;
}

function findCheck({ field, resolve }: FieldPlan): ((variable: string) => string) | undefined {
  return resolve ? undefined : asIs.get(getNullableType(field.type));
}

/** A string's length with its quotes, or what null takes; of any other value one character. */
function printLength({ field, completion }: FieldPlan, variable: string): string {
  const type = getNullableType(field.type);
  if (type !== GraphQLString && type !== GraphQLID) return '1';
  return completion.isNonNull ? `${variable}.length + 2` : `(${variable}?.length ?? 2) + 2`;
}

/** How many fields there are before the first that is not the source's own property, of a built-in scalar. */
export function countSimple(fields: readonly FieldPlan[]): number {
  const first = fields.findIndex((field) => !findCheck(field));
  return first < 0 ? fields.length : first;
}

/**
 * Compiles `(source) => ({ id: source.id, … })` as one would write it for this selection: there V8 knows the place of
 * each property, which it cannot in code that all selections share. What it holds of the request are response names,
 * and those are names.
 */
export function compileReader(fields: readonly FieldPlan[]): Reader {
  const simple = fields.slice(0, countSimple(fields));
  const variables = simple.map((_, index) => `value${index}`);
  const reads = simple.map(({ field }, index) => `value${index} = source.${field.name}; count = ${index + 1};`);
  const checks = simple.map((plan, index) => `(${printCheck(plan, `value${index}`)})`);
  const lengths = simple.map((plan, index) => printLength(plan, `value${index}`));
  const entries = fields.map(({ responseName, completion }, index) => {
    // As a plain key it would set the prototype.
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
    // Where a process may make no code of strings.
    return () => undefined;
  }
}

function printCheck(plan: FieldPlan, variable: string): string {
  const check = findCheck(plan)?.(variable);
  return plan.completion.isNonNull ? `${check}` : `${variable} == null || ${check}`;
}
