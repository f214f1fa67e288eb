import { type InputProblem, invalidInput } from '../../errors.ts';
import type { Rule } from './validation.ts';

type Value = string | null | undefined;

/** The problems of a value that is required. */
export function required(field: string, value: Value, rule: Rule): InputProblem[] {
  return value == null ? [{ field, issue: 'required' }] : rule(value).map((issue) => ({ field, issue }));
}

/** Those of a value that may be absent, but not null. */
export function given(field: string, value: Value, rule: Rule): InputProblem[] {
  return value === undefined ? [] : required(field, value, rule);
}

/** Those of a value that may be absent or null. */
export function optional(field: string, value: Value, rule: Rule): InputProblem[] {
  return value == null ? [] : required(field, value, rule);
}

export function problemIf(isWrong: boolean, field: string, issue: InputProblem['issue']): InputProblem[] {
  return isWrong ? [{ field, issue }] : [];
}

/** @throws ClientError VALIDATION_ERROR with all problems, so that they are reported together. */
export function assertInput(...problems: readonly InputProblem[][]): void {
  const all = problems.flat();
  if (all.length > 0) throw invalidInput(all);
}
