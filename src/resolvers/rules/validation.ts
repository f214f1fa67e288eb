import { controlCharacter, invisibleCharacter, maxNameLength, toName, visibleCharacter } from '../../common/names.ts';
import { isStorable } from '../../data/sql/stored-text.ts';
import type { InputProblem } from '../../errors.ts';

type Issue = InputProblem['issue'];

/** A rule for one value. It returns the issues of the value. */
export type Rule = (value: string) => Issue[];

/** Without characters that are not seen, with which an address would look like another one. */
const emailPart = String.raw`[^\s@\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]+`;
const emailForm = new RegExp(String.raw`^${emailPart}@${emailPart}\.${emailPart}$`, 'u');

/** A title, or a name of an import: not only white space, no control characters. Lengths are in code points. */
function line(maxLength: number): Rule {
  return (value) =>
    issuesOf({
      too_short: value.trim() === '',
      too_long: lengthOf(value) > maxLength,
      invalid: controlCharacter.test(value) || !value.isWellFormed(),
    });
}

/** A name, which is stored as `toName` returns it. */
export const name: Rule = (value) => {
  const stored = toName(value);
  return issuesOf({
    too_short: !visibleCharacter.test(stored),
    too_long: lengthOf(stored) > maxNameLength,
    invalid: controlCharacter.test(value) || invisibleCharacter.test(stored) || !value.isWellFormed(),
  });
};

/** Free text: any characters except NUL and lone surrogates. */
function text(maxLength: number): Rule {
  return (value) => issuesOf({ too_long: lengthOf(value) > maxLength, invalid: !isStorable(value) });
}

/** The name as it is in the history: an import recognises what it has imported before by it. */
export const importedName = line(maxNameLength);
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
  return issuesOf({ invalid: !emailForm.test(value) || !value.isWellFormed() });
};

export const password: Rule = (value) =>
  issuesOf({ too_short: lengthOf(value) < 8, too_long: lengthOf(value) > 200, invalid: !isStorable(value) });

function issuesOf(found: Partial<Record<Issue, boolean>>): Issue[] {
  return (Object.keys(found) as Issue[]).filter((issue) => found[issue]);
}

/** Texts of 1 MB take milliseconds to count. */
const maxCounted = 100_000;

/** The length in code points; that of a longer text, which no rule allows, in code units. */
function lengthOf(value: string): number {
  if (value.length > maxCounted) return value.length;
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}
