import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type Import, readImports } from './read-imports.ts';
import { findTypeScriptFiles, inRepository } from './repository.ts';

/** From left to right: a layer imports itself and what stands further right. Layers of one line do not know each other. */
const layers: readonly (readonly string[])[] = [
  ['main.ts'],
  ['commands/'],
  ['import/'],
  ['server.ts'],
  ['transport/'],
  ['engine/'],
  ['resolvers/'],
  ['live/', 'data/', 'identity/'],
  ['errors.ts', 'config.ts', 'event-loop.ts', 'fixed-window.ts', 'ids.ts', 'log.ts', 'output.ts'],
];

/** An import between two files, paths as seen from src/, or of a package. */
interface Arrow {
  file: string;
  to: string;
  isType: boolean;
}

/** What the order refuses and is right all the same. */
const exceptions: readonly ((arrow: Arrow) => boolean)[] = [
  // The engine hands the context to the resolvers, so its type is theirs to know.
  ({ file, to, isType }) => file.startsWith('resolvers/') && to === 'engine/context.ts' && isType,
  ({ file, to, isType }) => file.startsWith('live/') && (to === 'data/events.ts' || (to.startsWith('data/') && isType)),
  ({ file, to }) => file.startsWith('identity/') && to.startsWith('data/'),
];

/** What the order allows and is wrong all the same. */
const bans: readonly { reason: string; broken: (arrow: Arrow) => boolean }[] = [
  {
    reason: 'main.ts only chooses among commands',
    broken: ({ file, to }) => file === 'main.ts' && !/^(commands\/|node:)/.test(to),
  },
  {
    reason: 'data knows no GraphQL',
    broken: ({ file, to }) => file.startsWith('data/') && /^@?graphql\b/.test(to),
  },
  {
    reason: 'only server.ts and commands choose an implementation',
    broken: ({ file, to }) => /^(data\/sqlite\/|live\/bus\/(?!bus\.ts$))/.test(to) && !mayChoose(file, to),
  },
];

function mayChoose(file: string, to: string): boolean {
  if (file.startsWith('data/sqlite/')) return to.startsWith('data/sqlite/');
  if (file === 'data/database.ts') return to.startsWith('data/sqlite/');
  return file === 'server.ts' || file.startsWith('commands/');
}

/** What is wrong with one import of `file` (as seen from src/); undefined where nothing is. */
export function checkImport(file: string, { from, isType }: Import): string | undefined {
  if (from === undefined) return `src/${file}: a computed import() hides where it goes`;
  const to = from.startsWith('.') ? posix.join(posix.dirname(file), from) : from;
  const reason = refuse({ file, to, isType }, from.startsWith('.'));
  return reason && `src/${file} imports ${from}: ${reason}`;
}

function refuse(arrow: Arrow, isFile: boolean): string | undefined {
  const banned = bans.find(({ broken }) => broken(arrow));
  if (banned) return banned.reason;
  return isFile && !exceptions.some((allows) => allows(arrow)) ? refuseDirection(arrow) : undefined;
}

function refuseDirection({ file, to }: Arrow): string | undefined {
  // package.json and the like are no code.
  if (to.startsWith('../') && to.endsWith('.json')) return undefined;
  const [source, target] = [place(file), place(to)];
  if (!source) return 'the importing file stands in no layer';
  if (!target) return 'that stands in no layer';
  if (target.column < source.column) return 'that arrow runs back';
  const isApart = target.column === source.column && target.layer !== source.layer && source.layer.endsWith('/');
  return isApart ? `${source.layer} does not know ${target.layer}` : undefined;
}

function place(path: string): { column: number; layer: string } | undefined {
  const isIn = (layer: string) => (layer.endsWith('/') ? path.startsWith(layer) : path === layer);
  const column = layers.findIndex((line) => line.some(isIn));
  const layer = layers[column]?.find(isIn);
  return layer === undefined ? undefined : { column, layer };
}

/** What is wrong with the imports and the places of the files in src/. */
export async function checkImports(root = inRepository()): Promise<string[]> {
  const problems = findTypeScriptFiles('src', root).map(async (path) => {
    const file = path.slice('src/'.length);
    const imports = readImports(await readFile(join(root, path), 'utf8'));
    const misplaced = place(file) ? [] : [`${path} stands in no layer of scripts/check-imports.ts`];
    return [...misplaced, ...imports.flatMap((imported) => checkImport(file, imported) ?? [])];
  });
  return (await Promise.all(problems)).flat();
}
