import type { Choices } from '../clients/choices.ts';
import { edit, type Json, pathsOf } from './json.ts';
import type { Shape } from './shapes.ts';

const scalars =
  'true false 0 -1 1.5 1e999 9007199254740993 "" "x" "\\u0000" "\\ud800" "\\u00e9" "%" [] [null] {} {"a":null}';
const ofOtherTypes: readonly Json[] = [
  ...scalars.split(' ').map((text) => ({ text })),
  { text: `${'['.repeat(64)}${']'.repeat(64)}` },
  { text: `${'{"a":'.repeat(65)}0${'}'.repeat(65)}` },
];
/** What can be in place of a valid value: an empty list removes it, and two values repeat its field. */
export type FaultsOf = (json: Json) => (readonly Json[])[];

const none: Json = { text: 'null' };

/** The field is missing or null: the most frequent mistake of clients, and of servers. */
export const absent: FaultsOf = () => [[], [none]];

/** A value of each other type and at each bound, and a field that is given twice. */
export const wrong: FaultsOf = (json) => {
  const others = [...ofOtherTypes, { items: [json] }, { fields: [['a', json] as const] }, ...resized(json)];
  return [[json, none], [none, json], ...others.map((other) => [other])];
};

/** The value with the lengths 0, 1, each bound and one more; an object also with fields that are unknown. */
function resized(json: Json): Json[] {
  const lengths = [0, 1, ...(json.bounds ?? []).flatMap((bound) => [bound, bound + 1])];
  if ('items' in json) return lengths.map((length) => ({ items: repeat(json.items, length) }));
  if ('fields' in json) {
    const names = ['unknown', '__proto__', 'constructor', 'toString'];
    const extended = names.map((name) => ({ fields: [...json.fields, [name, { text: '{}' }] as const] }));
    const [, value = { text: '0' }] = json.fields[0] ?? [];
    const filled = (json.bounds ?? [])
      .flatMap((bound) => [bound, bound + 1])
      .map((length) => ({
        fields: Array.from({ length }, (_, index) => [`k${index}`, value] as const),
      }));
    return [...extended, ...filled];
  }
  if (!json.text.startsWith('"')) return lengths.map((length) => ({ text: String(length) }));
  return lengths.map((length) => ({
    text: JSON.stringify(JSON.parse(json.text).padEnd(length, 'x').slice(0, length)),
  }));
}

function repeat(items: readonly Json[], length: number): Json[] {
  return Array.from({ length }, (_, index) => items[index % Math.max(1, items.length)] ?? { text: 'null' });
}

/** The shape with each fault at each of its values. */
export function* faultyOf({ valid }: Shape, faultsOf: FaultsOf): Generator<Json> {
  for (const path of pathsOf(valid)) {
    const faults: (readonly Json[])[] = [];
    edit(valid, path, (json) => {
      faults.push(...faultsOf(json));
      return [json];
    });
    for (const fault of faults) yield* edit(valid, path, () => fault).slice(0, 1);
  }
}

/** A shape with up to three faults at random places. */
export function distort({ valid }: Shape, choices: Choices): Json {
  let json = valid;
  for (let left = choices.below(4); left > 0; left -= 1) {
    const path = choices.oneOf(pathsOf(json)) ?? [];
    json = edit(json, path, (inner) => choices.oneOf([...absent(inner), ...wrong(inner)]) ?? [])[0] ?? json;
  }
  return json;
}
