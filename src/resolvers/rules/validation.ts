import { isStorable } from '../../data/stored-text.ts';
import { type InputProblem, invalidInput } from '../../errors.ts';

type Issue = InputProblem['issue'];

/** A rule for one value. It returns the issues of the value. */
export type Rule = (value: string) => Issue[];

const controlCharacter = /\p{Cc}/u;
const emailForm = /^[^\s@]+@[^\s@]+\.[^\s@]+$/u;

/** A name or title: at least one visible character, no control characters. Lengths are in code points. */
function line(maxLength: number): Rule {
  return (value) =>
    issuesOf({
      too_short: value.trim() === '',
      too_long: lengthOf(value) > maxLength,
      invalid: controlCharacter.test(value) || !value.isWellFormed(),
    });
}

/** Free text: any characters except NUL and lone surrogates. */
function text(maxLength: number): Rule {
  return (value) => issuesOf({ too_long: lengthOf(value) > maxLength, invalid: !isStorable(value) });
}

export const name = line(80);
export const title = line(200);
export const body = text(20_000);

/** An id or an address that a message between nodes has room for. All that exist are shorter. */
export const clientText = line(100);

/** A key of `@idempotent`. */
export const idempotencyKey: Rule = (value) =>
  issuesOf({ too_short: value === '', too_long: lengthOf(value) > 255, invalid: !isStorable(value) });

export const email: Rule = (value) => {
  const issues = issuesOf({ too_short: value === '', too_long: lengthOf(value) > 254 });
  // The regular expression runs only on values of bounded length.
  if (issues.length > 0) return issues;
  return issuesOf({ invalid: !emailForm.test(value) || controlCharacter.test(value) || !value.isWellFormed() });
};

export const password: Rule = (value) =>
  issuesOf({ too_short: lengthOf(value) < 8, too_long: lengthOf(value) > 200, invalid: !isStorable(value) });

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

  add(field: string, issue: Issue): void {
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

function issuesOf(found: Partial<Record<Issue, boolean>>): Issue[] {
  return (Object.keys(found) as Issue[]).filter((issue) => found[issue]);
}

/** The length in code points. */
function lengthOf(value: string): number {
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}
