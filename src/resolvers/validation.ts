import { isStorable } from '../data/text.ts';
import { type InputProblem, invalidInput } from '../errors.ts';

type Issue = InputProblem['issue'];

/** A rule of one value: the issues it has. */
export type Rule = (value: string) => Issue[];

const controlCharacter = /\p{Cc}/u;
const emailForm = /^[^\s@]+@[^\s@]+\.[^\s@]+$/u;

/** A name or title: something to see, no control characters. Lengths are in code points. */
export function line(maxLength: number): Rule {
  return (value) =>
    issuesOf({
      too_short: value.trim() === '',
      too_long: lengthOf(value) > maxLength,
      invalid: controlCharacter.test(value) || !value.isWellFormed(),
    });
}

/** Free text: anything but NUL and lone surrogates. */
export function text(maxLength: number): Rule {
  return (value) => issuesOf({ too_long: lengthOf(value) > maxLength, invalid: !isStorable(value) });
}

export const name = line(80);
export const title = line(200);
export const body = text(20_000);

export const email: Rule = (value) => {
  const issues = issuesOf({ too_short: value === '', too_long: lengthOf(value) > 254 });
  // The form is looked at only where the length is bounded.
  if (issues.length > 0) return issues;
  return issuesOf({ invalid: !emailForm.test(value) || controlCharacter.test(value) || !value.isWellFormed() });
};

export const password: Rule = (value) =>
  issuesOf({ too_short: lengthOf(value) < 8, too_long: lengthOf(value) > 200, invalid: !isStorable(value) });

/** Collects every problem of an input, to tell them all at once. */
export class InputCheck {
  readonly #problems: InputProblem[] = [];

  /** A value that must be there. */
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

/** In code points. */
function lengthOf(value: string): number {
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}
