import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runInNewContext } from 'node:vm';
import type { Tokens } from 'marked';
import { type Node, parseSync, Visitor } from 'oxc-parser';
import { findTypeScriptFiles, inRepository } from '../repository.ts';
import { readDocuments } from './documents.ts';
import { listCode, readDocumentedSettings } from './settings.ts';

/** A constant or a property of a file of src/, or a setting in the README; with the text of its value. */
type Constant = Record<'path' | 'name' | 'text', string>;

const milliseconds = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, days: 86_400_000 };
const units: Record<string, number> = { KiB: 2 ** 10, MiB: 2 ** 20, MB: 1e6, ...milliseconds };
const quantity = new RegExp(String.raw`(\d[\d,.]*)(?: (${Object.keys(units).join('|')})\b)?`, 'g');

/** The rows of docs/limits.md whose numbers are not those of the constants and settings that they name, in this order. */
export async function checkLimits(root = inRepository()): Promise<string[]> {
  const page = (await readDocuments(root)).find(({ path }) => path === 'docs/limits.md');
  const rows = page?.tokens.flatMap((token) => (token.type === 'table' ? token.rows : [])) ?? [];
  const constants = await readConstants(root);
  return rows.flatMap(([limit, value, place]) => {
    const code = listCode(place);
    const own = constants.filter(({ path }) => path === 'README.md' || code.includes(basename(path)));
    const names = code.filter((text) => !text.endsWith('.ts'));
    const shown = readQuantities(value);
    return names.flatMap((name, index) => {
      const values = own.filter((each) => each.name === name).map((each) => evaluate(each, constants));
      const actual = values.flatMap((number) => (Number.isNaN(number) ? [] : number * scaleOf(name)));
      if (actual.length > 0 && actual.every((each) => each === shown[index])) return [];
      const inSource = actual.join(' and ') || 'no number in the files of the row';
      return [`docs/limits.md: ${limit?.text}: ${name} is ${shown[index]}, but in the source it is ${inSource}`];
    });
  });
}

async function readConstants(root: string): Promise<Constant[]> {
  const settings = await readDocumentedSettings(root);
  const constants = settings.map(({ name, defaultValue = '' }) => ({ path: 'README.md', name, text: defaultValue }));
  for (const path of findTypeScriptFiles('src', root)) {
    const code = await readFile(join(root, path), 'utf8');
    const add = (name: Node, value: Node | null) => {
      if (name.type === 'Identifier' && value)
        constants.push({ path, name: name.name, text: code.slice(value.start, value.end) });
    };
    new Visitor({
      VariableDeclarator: ({ id, init }) => add(id, init),
      Property: ({ key, value, shorthand }) => shorthand || add(key, value),
    }).visit(parseSync(path, code).program);
  }
  return constants;
}

/** NaN if it is not computed from numbers. The value of a rule for texts, such as `line(200)`, is that of its argument. */
function evaluate({ path, text }: Constant, all: readonly Constant[]): number {
  const [, argument = text] = /^\w+\((\w+)\)$/.exec(text) ?? [];
  if (!/^(?:[\w\s*+()/-]|\d\.\d)+$/.test(argument)) return Number.NaN;
  const sum = argument.replaceAll(/\b[a-z]\w*/gi, (word) => {
    const found = all.filter(({ name }) => name === word);
    const constant = found.find((each) => each.path === path) ?? found[0];
    return String(constant ? evaluate(constant, all) : Number.NaN);
  });
  return /NaN/.test(sum) ? Number.NaN : Number(runInNewContext(sum));
}

/** In bytes or milliseconds, if they have a unit. */
function readQuantities(cell: Tokens.TableCell | undefined): number[] {
  const text = cell?.tokens.map((token) => (token.type === 'text' ? token.text : '')).join('') ?? '';
  const matches = [...text.matchAll(quantity)];
  return matches.map(([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1));
}

/** That of the unit in the name of a constant or a setting. */
function scaleOf(name: string): number {
  return /hours$/i.test(name) ? milliseconds.h : /seconds$/i.test(name) ? milliseconds.s : 1;
}
