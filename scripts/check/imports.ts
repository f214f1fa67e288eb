import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { type Expression, parseSync, Visitor } from 'oxc-parser';
import { findTypeScriptFiles, inRepository } from '../repository.ts';

/** The layers of src/ from the top: a layer imports only itself and the layers after it. */
const layers: readonly string[][] = [
  ['main.ts'],
  ['commands/'],
  ['import/'],
  ['server.ts'],
  ['transport/'],
  ['engine/'],
  // The interface of extensions.
  ['extension.ts'],
  // The generated types of resolvers name the context.
  ['resolvers/', 'generated/'],
  ['changes/'],
  ['live/'],
  ['identity/'],
  ['data/'],
  ['tracing/'],
  ['log/'],
  ['config/'],
  // A cancellation may have a ClientError as its reason, and a ClientError has no stack trace.
  ['errors.ts', 'common/'],
];

/** Modules that some files must not import although the order of the layers allows it. */
const restricted: readonly { code: RegExp; isAllowed: (file: string) => boolean; reason: string }[] = [
  ...['data/sqlite/', 'data/postgres/'].map((folder) => ({
    code: new RegExp(`^${folder}`),
    isAllowed: (file: string) => file.startsWith(folder) || file === 'data/database/open-database.ts',
    reason: 'only data/database/open-database.ts chooses the database',
  })),
  {
    code: /^node:sqlite\b/,
    isAllowed: (file) => file.startsWith('data/sqlite/'),
    reason: 'only the code of data/sqlite/ depends on SQLite',
  },
  {
    code: /^live\/bus\/(?!bus\.ts$)/,
    isAllowed: (file) =>
      file.startsWith('live/bus/') || ['server.ts', 'commands/validate.ts', 'commands/workers.ts'].includes(file),
    reason:
      'only server.ts opens the bus, commands/validate.ts probes it, and commands/workers.ts passes its messages on',
  },
  {
    code: /^@?graphql\b/,
    isAllowed: (file) => !file.startsWith('data/'),
    reason: 'the code of data/ does not depend on GraphQL',
  },
  {
    code: /^@opentelemetry\/|^tracing\/open-tracing/,
    isAllowed: (file) => file.startsWith('tracing/'),
    reason: 'a server without traces does not load OpenTelemetry',
  },
];

/** The module specifiers of all imports and re-exports, types included; undefined for one that is computed. */
export function readImports(code: string): (string | undefined)[] {
  const { program, errors } = parseSync('module.ts', code);
  if (errors[0]) throw new Error(errors[0].message);
  const specifiers: (string | undefined)[] = [];
  const add = ({ source }: { source: Expression | null }) => {
    if (source)
      specifiers.push(source.type === 'Literal' && typeof source.value === 'string' ? source.value : undefined);
  };
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(program);
  return specifiers;
}

/** The only file that imports modules whose names are settings. */
const loadsExtensions = 'engine/extensions/load.ts';

/** Why `file` may not import `specifier`; undefined if it may. Paths are relative to src/. */
export function refuseImport(file: string, specifier: string | undefined): string | undefined {
  if (specifier === undefined && file !== loadsExtensions)
    return `src/${file}: the module of an import() must be a string literal`;
  if (specifier === undefined) return undefined;
  const isFile = specifier.startsWith('.') && !specifier.endsWith('.json');
  const target = isFile ? posix.join(posix.dirname(file), specifier) : specifier;
  const reason = refuseRestricted(file, target) ?? (isFile ? refuseDirection(file, target) : undefined);
  return reason && `src/${file} imports ${specifier}: ${reason}`;
}

function refuseRestricted(file: string, target: string): string | undefined {
  return restricted.find(({ code, isAllowed }) => code.test(target) && !isAllowed(file))?.reason;
}

function refuseDirection(file: string, target: string): string | undefined {
  const [from, to] = [findLayer(file), findLayer(target)];
  if (!to) return 'the imported file is in no layer of scripts/check/imports.ts';
  if (!from || from.order <= to.order) return undefined;
  return `${from.name} must not import ${to.name}, which is a higher layer`;
}

function findLayer(path: string): { name: string; order: number } | undefined {
  const contains = (place: string) => (place.endsWith('/') ? path.startsWith(place) : path === place);
  const order = layers.findIndex((places) => places.some(contains));
  const name = layers[order]?.find(contains);
  return name === undefined ? undefined : { name, order };
}

/** The files of src/ that are in no layer, and all imports that are not allowed. */
export async function checkImports(root = inRepository()): Promise<string[]> {
  const problems = findTypeScriptFiles('src', root).map(async (path) => {
    const file = path.slice('src/'.length);
    if (!findLayer(file)) return [`${path} is in no layer of scripts/check/imports.ts`];
    const specifiers = readImports(await readFile(join(root, path), 'utf8'));
    return specifiers.flatMap((specifier) => refuseImport(file, specifier) ?? []);
  });
  return (await Promise.all(problems)).flat();
}
