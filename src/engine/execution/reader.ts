import { GraphQLBoolean, GraphQLID, GraphQLInt, type GraphQLOutputType, GraphQLString, getNullableType } from 'graphql';
import type { FieldPlan } from './plan.ts';

/**
 * Makes the answer's object for a source whose own properties are the values of its simple fields as they stand; those
 * of the others are undefined, and yet to come. Undefined for any other source: each of its values is to be looked at.
 */
export type Reader = (source: unknown) => Record<string, unknown> | undefined;

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

/** Whether a field is the source's own property, of a built-in scalar. */
export function isSimple(field: FieldPlan): boolean {
  return findCheck(field) !== undefined;
}

/**
 * Compiles `(source) => ({ id: source.id, … })` as one would write it for this selection: there V8 knows the place of
 * each property, which it cannot in code that all selections share. What it holds of the request are response names,
 * and those are names.
 */
export function compileReader(fields: readonly FieldPlan[]): Reader {
  const reads: string[] = [];
  const checks: string[] = [];
  const entries: string[] = [];
  fields.forEach((plan, index) => {
    const check = findCheck(plan);
    const variable = `value${index}`;
    // As a plain key it would set the prototype.
    const key = plan.responseName === '__proto__' ? '["__proto__"]' : plan.responseName;
    if (!check) return void entries.push(`${key}: undefined`);
    const isNullable = !plan.completion.isNonNull;
    reads.push(`const ${variable} = source.${plan.field.name};`);
    checks.push(`(${isNullable ? `${variable} == null || ` : ''}${check(variable)})`);
    entries.push(`${key}: ${variable}${isNullable ? ' ?? null' : ''}`);
  });
  const code = `
    if (typeof source !== 'object' || source === null || source instanceof Error) return undefined;
    if (typeof source.then === 'function') return undefined;
    ${reads.join('\n')}
    return ${['true', ...checks].join(' && ')} ? { ${entries.join(', ')} } : undefined;`;
  try {
    return new Function('source', code) as Reader;
  } catch {
    // Where a process may make no code of strings.
    return () => undefined;
  }
}
