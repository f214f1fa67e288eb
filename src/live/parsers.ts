/** Returns the value if it has the expected type, else undefined: another process may have sent anything. */
export type Parser<T> = (value: unknown) => T | undefined;

export const text: Parser<string> = (value) => (typeof value === 'string' ? value : undefined);
export const number: Parser<number> = (value) => (Number.isFinite(value) ? (value as number) : undefined);
export const integer: Parser<number> = (value) => (Number.isSafeInteger(value) ? (value as number) : undefined);

export const flag: Parser<boolean> = (value) => (typeof value === 'boolean' ? value : undefined);

export function orNull<T>(parse: Parser<T>): Parser<T | null> {
  return (value) => (value === null ? null : parse(value));
}

export function oneOf<T extends string>(...allowed: readonly T[]): Parser<T> {
  return (value) => allowed.find((option) => option === value);
}

/** Reads an object that has all these fields; other fields are left out. */
export function fields<T extends object>(parsers: { [Name in keyof T]-?: Parser<T[Name]> }): Parser<T> {
  const all = Object.entries<Parser<unknown>>(parsers);
  return (value) => {
    const record = asRecord(value);
    const parsed = all.map(([name, parser]) => [name, parser(record?.[name])] as const);
    return parsed.every(([, field]) => field !== undefined) ? (Object.fromEntries(parsed) as T) : undefined;
  };
}

export function listOf<T>(parse: Parser<T>): Parser<T[]> {
  return (value) => {
    const items = Array.isArray(value) ? value.map(parse) : [undefined];
    return items.every((item) => item !== undefined) ? items : undefined;
  };
}

export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

/** The value of a JSON text; undefined if it is malformed. */
export function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
