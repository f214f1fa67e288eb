import { type InputProblem, invalidInput } from '../errors.ts';

type Issue = InputProblem['issue'];

/** A rule of one value: the issue it has, or undefined. */
export type Rule = (value: string) => Issue | undefined;

const controlCharacter = /\p{Cc}/u;
const emailForm = /^[^\s@]+@[^\s@]+\.[^\s@]+$/u;

/** A name or title: something to see, no control characters. Lengths are in code points. */
export function line(maxLength: number): Rule {
  return (value) => {
    const length = lengthOf(value);
    if (value.trim() === '') return 'too_short';
    if (length > maxLength) return 'too_long';
    return controlCharacter.test(value) || !value.isWellFormed() ? 'invalid' : undefined;
  };
}

/** Free text: anything but NUL and lone surrogates. */
export function text(maxLength: number): Rule {
  return (value) => {
    if (lengthOf(value) > maxLength) return 'too_long';
    return value.includes('\0') || !value.isWellFormed() ? 'invalid' : undefined;
  };
}

export const name = line(80);
export const title = line(200);
export const body = text(20_000);

export const email: Rule = (value) => {
  if (value.length > 254) return 'too_long';
  if (value === '') return 'too_short';
  return emailForm.test(value) && value.isWellFormed() && !controlCharacter.test(value) ? undefined : 'invalid';
};

export const password: Rule = (value) => {
  const length = lengthOf(value);
  if (length < 8) return 'too_short';
  if (length > 200) return 'too_long';
  return value.includes('\0') || !value.isWellFormed() ? 'invalid' : undefined;
};

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
    const issue = rule(value);
    if (issue) this.add(field, issue);
  }
}

/** In code points. */
function lengthOf(value: string): number {
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}
