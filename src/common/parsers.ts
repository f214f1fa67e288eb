import { isObject } from './is-object.ts';

/** Returns the value if it has the expected type, else undefined: another process may have sent anything. */
export type Parser<T> = (value: unknown) => T | undefined;

/** The type of the values that a parser returns. */
export type Parsed<AnyParser> = AnyParser extends Parser<infer T> ? Exclude<T, undefined> : never;

export const text: Parser<string> = (value) => (typeof value === 'string' ? value : undefined);
export const number: Parser<number> = (value) => (Number.isFinite(value) ? (value as number) : undefined);
export const integer: Parser<number> = (value) => (Number.isSafeInteger(value) ? (value as number) : undefined);

export function orNull<T>(parse: Parser<T>): Parser<T | null> {
  return (value) => (value === null ? null : parse(value));
}

/** Reads a value that is absent as null: JSON leaves out what is undefined. */
export function orAbsent<T>(parse: Parser<T>): Parser<T | null> {
  return (value) => (value == null ? null : parse(value));
}

export function oneOf<T extends string>(...allowed: readonly T[]): Parser<T> {
  return (value) => allowed.find((option) => option === value);
}

/** Reads an object that has all these fields; other fields are left out. */
export function fields<T extends object>(parsers: { [Name in keyof T]-?: Parser<T[Name]> }): Parser<T> {
  const all = Object.entries<Parser<unknown>>(parsers);
  return (value) => {
    const record = isObject(value) ? value : {};
    const parsed = all.map(([name, parser]) => [name, parser(record[name])] as const);
    return parsed.every(([, field]) => field !== undefined) ? (Object.fromEntries(parsed) as T) : undefined;
  };
}

type Variants<Tag extends string, Parsers> = {
  [Name in keyof Parsers]: Record<Tag, Name> & Parsed<Parsers[Name]>;
}[keyof Parsers];

/** Reads one of several objects, which differ by the property `tag`. */
export function variants<Tag extends string, Parsers extends Record<string, Parser<object>>>(
  tag: Tag,
  parsers: Parsers,
): Parser<Variants<Tag, Parsers>> {
  return (value) => {
    const name = isObject(value) ? text(value[tag]) : undefined;
    const parsed = name !== undefined && Object.hasOwn(parsers, name) && parsers[name]?.(value);
    return parsed ? ({ [tag]: name, ...parsed } as Variants<Tag, Parsers>) : undefined;
  };
}

export function listOf<T>(parse: Parser<T>): Parser<readonly T[]> {
  return (value) => {
    const items = Array.isArray(value) ? value.map(parse) : [undefined];
    return items.every((item) => item !== undefined) ? items : undefined;
  };
}

/** The value of a JSON text; undefined if it is malformed. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
