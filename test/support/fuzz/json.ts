/**
 * JSON that can be written as no value of JSON.stringify could be: an object may have the same key twice, and a scalar is
 * any text. `bounds` are the lengths or numbers that are the last allowed ones.
 */
export type Json = { bounds?: readonly number[] } & (
  | { fields: readonly (readonly [string, Json])[] }
  | { items: readonly Json[] }
  | { text: string }
);

class Bounded {
  readonly value: unknown;
  readonly bounds: readonly number[];

  constructor(value: unknown, bounds: readonly number[]) {
    this.value = value;
    this.bounds = bounds;
  }
}

/** A value with its bounds. */
export const at = (value: unknown, ...bounds: number[]): Bounded => new Bounded(value, bounds);

export function toJson(value: unknown): Json {
  if (value instanceof Bounded) return { ...toJson(value.value), bounds: value.bounds };
  if (Array.isArray(value)) return { items: value.map(toJson) };
  if (typeof value !== 'object' || value === null) return { text: JSON.stringify(value) ?? 'null' };
  return { fields: Object.entries(value).map(([key, inner]) => [key, toJson(inner)]) };
}

export function print(json: Json): string {
  if ('text' in json) return json.text;
  if ('items' in json) return `[${json.items.map(print).join(',')}]`;
  return `{${json.fields.map(([key, inner]) => `${JSON.stringify(key)}:${print(inner)}`).join(',')}}`;
}

/** The position of a value: an index at each level. The outermost value has the path []. */
type Path = readonly number[];

/** The paths of all values; outer values are first. */
export function pathsOf(json: Json): Path[] {
  const paths: Path[] = [[]];
  for (let index = 0; index < paths.length; index += 1) {
    const path = paths[index] ?? [];
    paths.push(...childrenOf(find(json, path)).map((_, child) => [...path, child]));
  }
  return paths;
}

function childrenOf(json: Json): readonly Json[] {
  if ('items' in json) return json.items;
  return 'fields' in json ? json.fields.map(([, inner]) => inner) : [];
}

function find(json: Json, path: Path): Json {
  return path.reduce((inner, index) => childrenOf(inner)[index] ?? inner, json);
}

/** Replaces the value at the path by any number of values: none removes the field, two repeat its key. */
export function edit(json: Json, [index, ...rest]: Path, replace: (json: Json) => readonly Json[]): readonly Json[] {
  if (index === undefined) return replace(json);
  if ('text' in json) return [json];
  const edited = (inner: Json, at: number) => (at === index ? edit(inner, rest, replace) : [inner]);
  if ('items' in json) return [{ items: json.items.flatMap(edited) }];
  return [{ fields: json.fields.flatMap(([key, inner], at) => edited(inner, at).map((one) => [key, one] as const)) }];
}
