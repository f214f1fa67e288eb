import type { InputProblem } from '../errors.ts';
import * as rules from '../resolvers/rules/validation.ts';
import { dateTime } from '../resolvers/scalars.ts';

export type ImportRecord = RoomRecord | UserRecord | PostRecord;

export interface RoomRecord {
  type: 'room';
  name: string;
}

export interface UserRecord {
  type: 'user';
  name: string;
  createdAt: number;
}

export interface PostRecord {
  type: 'post';
  /** The room's name. */
  room: string;
  /** The user's name. */
  author: string;
  title: string;
  body: string | null;
  publishedAt: number;
  /** Whether control characters in the title were replaced by spaces. */
  isTitleCorrected: boolean;
}

/** The reason why a line is refused, in words for the operator. */
export class BadRecord extends Error {}

type Json = Record<string, unknown>;

const words: Record<InputProblem['issue'], string> = {
  required: 'is missing',
  too_short: 'is empty',
  too_long: 'is too long',
  invalid: 'has characters that are not allowed',
  out_of_range: 'is out of range',
};

/** Parses and validates the record of a line. @throws BadRecord */
export function parseRecord(text: string): ImportRecord {
  const json = parseObject(text);
  switch (json['type']) {
    case 'room':
      return { type: 'room', name: readText(json, 'name', rules.name) };
    case 'user':
      return { type: 'user', name: readText(json, 'name', rules.name), createdAt: readTime(json, 'createdAt') };
    case 'post':
      return readPost(json);
    default:
      throw new BadRecord('type is not one of "room", "user" and "post"');
  }
}

function parseObject(text: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRecord('it is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new BadRecord('it is not a JSON object');
  return value as Json;
}

function readPost(json: Json): PostRecord {
  const given = readString(json, 'title');
  // Only titles are corrected: they are cut from bodies, and the body keeps its characters.
  const title = given.replaceAll(/\p{Cc}/gu, ' ');
  return {
    type: 'post',
    room: readText(json, 'room', rules.name),
    author: readText(json, 'author', rules.name),
    title: check('title', title, rules.title),
    body: json['body'] == null ? null : readText(json, 'body', rules.body),
    publishedAt: readTime(json, 'publishedAt'),
    isTitleCorrected: title !== given,
  };
}

function readText(json: Json, field: string, rule: rules.Rule): string {
  return check(field, readString(json, field), rule);
}

function readString(json: Json, field: string): string {
  const value = json[field];
  if (value == null) throw new BadRecord(`${field} ${words.required}`);
  if (typeof value !== 'string') throw new BadRecord(`${field} is not a string`);
  return value;
}

function check(field: string, value: string, rule: rules.Rule): string {
  const issues = rule(value);
  if (issues.length > 0) throw new BadRecord(`${field} ${issues.map((issue) => words[issue]).join(' and ')}`);
  return value;
}

function readTime(json: Json, field: string): number {
  const value = readString(json, field);
  try {
    return dateTime.coerceInputValue(value);
  } catch {
    throw new BadRecord(`${field} is not a time in ISO 8601 with an offset, such as 2026-11-20T08:30:00.000Z`);
  }
}
