import { isObject } from '../common/is-object.ts';
import { toComposed } from '../common/names.ts';
import { parseJson } from '../common/parsers.ts';
import type { InputProblem } from '../errors.ts';
import * as rules from '../resolvers/rules/validation.ts';
import { dateTime } from '../resolvers/scalars.ts';

/** The reasons why a line is refused, in words for the operator. */
export class BadRecord extends Error {}

/** The unknown fields that a reason names, and the length of a name in it. */
const [maxNamed, maxNamedLength] = [5, 50];

const words: Record<InputProblem['issue'], string> = {
  required: 'is missing',
  too_short: 'is empty',
  too_long: 'is too long',
  invalid: 'has characters that are not allowed',
  out_of_range: 'is out of range',
};

/**
 * The fields of each type of record. A function reads the value of a field, and throws BadRecord with what is wrong with
 * it.
 */
const fieldsOf = {
  room: { name: readName, visibility: readVisibility },
  user: { name: readName, createdAt: readTime },
  /** The name of the room, and that of the user who is the author. */
  post: { room: readName, author: readName, title: readTitle, body: readBody, publishedAt: readTime },
};

type Type = keyof typeof fieldsOf;
type FieldsOf<T extends Type> = (typeof fieldsOf)[T];
export type RecordOf<T extends Type> = { type: T } & {
  [Field in keyof FieldsOf<T>]: FieldsOf<T>[Field] extends (value: unknown) => infer Value ? Value : never;
};
export type ImportRecord = { [T in Type]: RecordOf<T> }[Type];

/** Parses and validates the record of a line. @throws BadRecord with all problems of the line. */
export function parseRecord(text: string): ImportRecord {
  const { type, ...values } = parseObject(text);
  if (!isType(type)) throw new BadRecord('type is not one of "room", "user" and "post"');
  const record: Record<string, unknown> = { type };
  const problems: string[] = [];
  for (const [field, read] of Object.entries<(value: unknown) => unknown>(fieldsOf[type])) {
    try {
      record[field] = read(values[field]);
    } catch (error) {
      if (!(error instanceof BadRecord)) throw error;
      problems.push(`${field} ${error.message}`);
    }
  }
  const unknown = Object.keys(values).filter((field) => !Object.hasOwn(fieldsOf[type], field));
  for (const field of unknown.slice(0, maxNamed))
    problems.push(`${JSON.stringify(field.slice(0, maxNamedLength))} is not a field of a ${type}`);
  if (problems.length > 0) throw new BadRecord(problems.join('; '));
  return record as ImportRecord;
}

function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text);
  if (value === undefined) throw new BadRecord('it is not JSON');
  if (!isObject(value)) throw new BadRecord('it is not a JSON object');
  return value;
}

function isType(type: unknown): type is Type {
  return typeof type === 'string' && Object.hasOwn(fieldsOf, type);
}

function readName(value: unknown): string {
  return toComposed(assertRule(readString(value), rules.importedName));
}

function readBody(value: unknown): string | null {
  return value == null ? null : assertRule(readString(value), rules.body);
}

/** Only titles are corrected: they are cut from bodies, and the body keeps its characters. */
function readTitle(value: unknown): { text: string; isCorrected: boolean } {
  const given = readString(value);
  const text = assertRule(given.replaceAll(/\p{Cc}/gu, ' '), rules.title);
  return { text, isCorrected: text !== given };
}

function readVisibility(value: unknown): 'PUBLIC' | 'PRIVATE' {
  const visibility = value ?? 'PUBLIC';
  if (visibility === 'PUBLIC' || visibility === 'PRIVATE') return visibility;
  throw new BadRecord('is not one of "PUBLIC" and "PRIVATE"');
}

function readTime(value: unknown): number {
  const text = readString(value);
  try {
    return dateTime.coerceInputValue(text);
  } catch {
    throw new BadRecord('is not a time in ISO 8601 with an offset, such as 2026-11-20T08:30:00.000Z');
  }
}

function readString(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new BadRecord(value == null ? words.required : 'is not a string');
}

function assertRule(value: string, rule: rules.Rule): string {
  const issues = rule(value);
  if (issues.length > 0) throw new BadRecord(issues.map((issue) => words[issue]).join(' and '));
  return value;
}
