import { type InputProblem, invalidInput } from '../../errors.ts';
import type { Rule } from './validation.ts';

/** Collects all problems of an input, so that they are reported together. */
export class InputCheck {
  readonly #problems: InputProblem[] = [];

  /** A value that is required. */
  required(field: string, value: string | null | undefined, rule: Rule): void {
    if (value == null) this.add(field, 'required');
    else this.#check(field, value, rule);
  }

  /** A value that may be absent, but not null. */
  given(field: string, value: string | null | undefined, rule: Rule): void {
    if (value !== undefined) this.required(field, value, rule);
  }

  /** A value that may be absent or null. */
  optional(field: string, value: string | null | undefined, rule: Rule): void {
    if (value != null) this.#check(field, value, rule);
  }

  add(field: string, issue: InputProblem['issue']): void {
    this.#problems.push({ field, issue });
  }

  /** @throws ClientError VALIDATION_ERROR with all problems. */
  assertValid(): void {
    if (this.#problems.length > 0) throw invalidInput(this.#problems);
  }

  #check(field: string, value: string, rule: Rule): void {
    for (const issue of rule(value)) this.add(field, issue);
  }
}
