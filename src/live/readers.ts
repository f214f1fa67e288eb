/** Returns the value if it has the expected type, else undefined. Readers check what another process has sent. */
export type Reader<T> = (value: unknown) => T | undefined;

export const text: Reader<string> = (value) => (typeof value === 'string' ? value : undefined);
export const number: Reader<number> = (value) => (Number.isFinite(value) ? (value as number) : undefined);
export const integer: Reader<number> = (value) => (Number.isSafeInteger(value) ? (value as number) : undefined);

export const flag: Reader<boolean> = (value) => (typeof value === 'boolean' ? value : undefined);

export function orNull<T>(read: Reader<T>): Reader<T | null> {
  return (value) => (value === null ? null : read(value));
}

export function oneOf<T extends string>(...allowed: readonly T[]): Reader<T> {
  return (value) => allowed.find((option) => option === value);
}

/** Reads an object that has all these fields; other fields are left out. */
export function fields<T extends object>(readers: { [Name in keyof T]-?: Reader<T[Name]> }): Reader<T> {
  const all = Object.entries<Reader<unknown>>(readers);
  return (value) => {
    const record = asRecord(value);
    const read = all.map(([name, reader]) => [name, reader(record?.[name])] as const);
    return read.every(([, field]) => field !== undefined) ? (Object.fromEntries(read) as T) : undefined;
  };
}

export function listOf<T>(read: Reader<T>): Reader<T[]> {
  return (value) => {
    const items = Array.isArray(value) ? value.map(read) : [undefined];
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
