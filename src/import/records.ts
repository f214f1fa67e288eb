import { isObject } from '../common/is-object.ts';
import { toComposed } from '../common/names.ts';
import type { RoomRow } from '../data/tables.ts';
import type { InputProblem } from '../errors.ts';
import * as rules from '../resolvers/rules/validation.ts';
import { dateTime } from '../resolvers/scalars.ts';

export type ImportRecord = RoomRecord | UserRecord | PostRecord;

export interface RoomRecord {
  type: 'room';
  name: string;
  visibility: RoomRow['visibility'];
}

interface UserRecord {
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

/** Parses and validates the record of a line. @throws BadRecord with all problems of the line. */
export function parseRecord(text: string): ImportRecord {
  const fields = new Fields(parseObject(text));
  const record = readRecord(fields);
  fields.assertValid();
  return record;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new BadRecord('it is not JSON');
  }
  if (!isObject(value)) throw new BadRecord('it is not a JSON object');
  return value;
}

function readRecord(fields: Fields): ImportRecord {
  switch (fields.type) {
    case 'room':
      return { type: 'room', name: fields.readName('name'), visibility: fields.readVisibility() };
    case 'user':
      return { type: 'user', name: fields.readName('name'), createdAt: fields.readTime('createdAt') };
    case 'post':
      return readPost(fields);
    default:
      throw new BadRecord('type is not one of "room", "user" and "post"');
  }
}

function readPost(fields: Fields): PostRecord {
  return {
    type: 'post',
    room: fields.readName('room'),
    author: fields.readName('author'),
    ...fields.readTitle(),
    body: fields.readOptionalText('body', rules.body),
    publishedAt: fields.readTime('publishedAt'),
  };
}

/**
 * Reads the fields of a JSON object, and collects their problems, so that they are reported together. A field with a
 * problem is read as an empty text or 0, which nobody uses: `assertValid` throws.
 */
class Fields {
  readonly #json: Record<string, unknown>;
  readonly #read = new Set(['type']);
  readonly #problems: string[] = [];

  constructor(json: Record<string, unknown>) {
    this.#json = json;
  }

  get type(): unknown {
    return this.#json['type'];
  }

  readName(field: string): string {
    return toComposed(this.#readText(field, rules.importedName));
  }

  readOptionalText(field: string, rule: rules.Rule): string | null {
    return this.#find(field) == null ? null : this.#readText(field, rule);
  }

  readVisibility(): RoomRow['visibility'] {
    const value = this.#find('visibility') ?? 'PUBLIC';
    if (value === 'PUBLIC' || value === 'PRIVATE') return value;
    this.#add('visibility is not one of "PUBLIC" and "PRIVATE"');
    return 'PRIVATE';
  }

  /** Only titles are corrected: they are cut from bodies, and the body keeps its characters. */
  readTitle(): Pick<PostRecord, 'title' | 'isTitleCorrected'> {
    const given = this.#readString('title');
    if (given === undefined) return { title: '', isTitleCorrected: false };
    const title = given.replaceAll(/\p{Cc}/gu, ' ');
    return { title: this.#check('title', title, rules.title), isTitleCorrected: title !== given };
  }

  readTime(field: string): number {
    const value = this.#readString(field);
    if (value === undefined) return 0;
    try {
      return dateTime.coerceInputValue(value);
    } catch {
      this.#add(`${field} is not a time in ISO 8601 with an offset, such as 2026-11-20T08:30:00.000Z`);
      return 0;
    }
  }

  /** @throws BadRecord if a field that was read has a problem, or the line has other fields. */
  assertValid(): void {
    const unknown = Object.keys(this.#json).filter((field) => !this.#read.has(field));
    for (const field of unknown.slice(0, maxNamed))
      this.#add(`${JSON.stringify(field.slice(0, maxNamedLength))} is not a field of a ${this.type}`);
    if (this.#problems.length > 0) throw new BadRecord(this.#problems.join('; '));
  }

  #find(field: string): unknown {
    this.#read.add(field);
    return this.#json[field];
  }

  #readText(field: string, rule: rules.Rule): string {
    const value = this.#readString(field);
    return value === undefined ? '' : this.#check(field, value, rule);
  }

  #readString(field: string): string | undefined {
    const value = this.#find(field);
    if (typeof value === 'string') return value;
    this.#add(`${field} ${value == null ? words.required : 'is not a string'}`);
    return undefined;
  }

  #check(field: string, value: string, rule: rules.Rule): string {
    const issues = rule(value);
    if (issues.length > 0) this.#add(`${field} ${issues.map((issue) => words[issue]).join(' and ')}`);
    return value;
  }

  #add(problem: string): void {
    this.#problems.push(problem);
  }
}
