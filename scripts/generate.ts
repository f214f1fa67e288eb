import { existsSync, globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptResolvers from '@graphql-codegen/typescript-resolvers';
import { buildSchema, parse, Source } from 'graphql';
import { inboxEventTypes, roomEventTypes } from '../src/data/event-log/room-event-types.ts';
import { findPossibleTypes } from '../src/engine/schema.ts';
import { generateClientDocuments } from './generate/client-documents.ts';
import { generateErrorDocs } from './generate/error-docs.ts';
import { bundlePage } from './generate/page-scripts.ts';
import { inRepository, runInstalled } from './repository.ts';

const resolverTypes = 'src/generated/resolver-types.generated.ts';

/** The generated files, and the text of each for the schema. Clients and examples have copies of some. */
const generated: Record<string, (sdl: string) => Promise<string>> = {
  [resolverTypes]: generateResolverTypes,
  'possible-types.json': generatePossibleTypes,
  'docs/errors.md': async () => generateErrorDocs(),
  'packages/client/documents.json': async () => generateClientDocuments(),
  'src/transport/console/script.generated.js': () => bundlePage('packages/pages/console/start.ts'),
  'src/transport/graphiql/script.generated.js': () => bundlePage('packages/pages/graphiql/start.js'),
};

const header = '// Generated from schema.graphql by `npm run generate`. Do not edit.\n';

const eventModel = '../data/event-log/events.ts#StreamEvent';

/** The TypeScript type of the parent value of each type's resolvers. Paths are relative to the generated file. */
const mappers = {
  User: '../data/tables.ts#PublicUser',
  ApiKey: '../data/tables.ts#ApiKeyRow',
  Invitation: '../data/tables.ts#InvitationRow',
  Post: '../data/tables.ts#PostWithoutBody',
  Room: '../data/tables.ts#RoomRow',
  Pagination: '../data/lists/pages.ts#Pagination as PaginationModel',
  UserPage: '../data/lists/pages.ts#UserPage as UserPageModel',
  PostPage: '../data/lists/pages.ts#PostPage as PostPageModel',
  RoomPage: '../data/lists/pages.ts#RoomPage as RoomPageModel',
  PageInfo: '../data/lists/pages.ts#PageInfo as PageInfoModel',
  PostConnection: '../data/lists/pages.ts#PostConnection as PostConnectionModel',
  PostEdge: '../data/lists/pages.ts#PostEdge as PostEdgeModel',
  RoomConnection: '../data/lists/pages.ts#RoomConnection as RoomConnectionModel',
  RoomEdge: '../data/lists/pages.ts#RoomEdge as RoomEdgeModel',
  RoomMemberConnection: '../data/lists/pages.ts#RoomMemberConnection as RoomMemberConnectionModel',
  RoomMemberEdge: '../data/lists/pages.ts#RoomMemberEdge as RoomMemberEdgeModel',
  Client: '../live/inventory/clients.ts#Client as ClientModel',
  ClientConnection: '../live/inventory/clients.ts#ClientConnection as ClientConnectionModel',
  ClientEdge: '../live/inventory/clients.ts#ClientEdge as ClientEdgeModel',
  ServerStatus: '../live/inventory/server-status.ts#ServerStatus as ServerStatusModel',
  RoomPresence: '../live/presence/presence-state.ts#PresenceState as PresenceModel',
  Load: '../live/inventory/load.ts#Loads as LoadsModel',
  UserLoad: '../live/inventory/load.ts#Load as UserLoadModel',
  AddressLoad: '../live/inventory/load.ts#Load as AddressLoadModel',
  Refusal: '../live/inventory/refusals.ts#Refusal as RefusalModel',
  ErrorCount: '../live/inventory/server-status.ts#ErrorCount as ErrorCountModel',
  RoomFollowers: '../live/inventory/server-status.ts#RoomFollowers as RoomFollowersModel',
  ...Object.fromEntries(
    ['RoomEvent', ...Object.keys(roomEventTypes), ...inboxEventTypes].map((type) => [type, eventModel]),
  ),
};

const config = {
  contextType: '../resolvers/context.ts#Context',
  mappers,
  // Resolvers use milliseconds since 1970; the scalar converts them from and to text.
  scalars: { DateTime: 'number', ID: 'string' },
  // The generator refuses a scalar that is not in `scalars`.
  strictScalars: true,
  enumsAsTypes: true,
  skipTypename: true,
  useTypeImports: true,
  // With exactOptionalPropertyTypes, an optional property may be undefined only if its type says so.
  maybeValue: 'T | null | undefined',
  inputMaybeValue: 'T | null | undefined',
};

/** Returns a problem for each generated file that does not match its source. */
export async function checkGenerated(): Promise<string[]> {
  const problems: string[] = [];
  for (const [file, text] of await generate()) {
    const present = existsSync(inRepository(file)) && (await readFile(inRepository(file), 'utf8'));
    if (present !== text) problems.push(`${file} does not match its source: run npm run generate`);
  }
  return problems;
}

async function generate(): Promise<[file: string, text: string][]> {
  const sdl = await readFile(inRepository('schema.graphql'), 'utf8');
  const targets = Object.entries(generated).flatMap(([file, textOf]) => {
    const text = textOf(sdl);
    return [file, ...findCopies(file)].map(async (path): Promise<[string, string]> => [path, await text]);
  });
  return Promise.all(targets);
}

/** The files of the same name in clients and examples. */
function findCopies(file: string): string[] {
  return globSync([`clients/*/${file}`, `examples/*/src/${file}`], { cwd: inRepository() });
}

async function generateResolverTypes(sdl: string): Promise<string> {
  const code = await codegen({
    filename: resolverTypes,
    schema: parse(new Source(sdl, 'schema.graphql')),
    documents: [],
    config,
    plugins: [{ typescript: {} }, { typescriptResolvers: {} }],
    pluginMap: { typescript, typescriptResolvers },
  });
  return format('generated.ts', header + allowNulls(code));
}

async function generatePossibleTypes(sdl: string): Promise<string> {
  return format('possible-types.json', JSON.stringify(findPossibleTypes(buildSchema(sdl))));
}

/**
 * A default value replaces an absent argument, not an explicit null. The type that codegen generates excludes null; this
 * replacement allows it.
 */
function allowNulls(code: string): string {
  const allowing = code.replace('[P in K]-?: NonNullable<T[P]>', '[P in K]-?: Exclude<T[P], undefined>');
  if (allowing === code)
    throw new Error('codegen no longer generates RequireFields with NonNullable: update allowNulls');
  return allowing;
}

/** @param name is not the name of the file, because biome.json excludes *.generated.ts */
async function format(name: string, text: string): Promise<string> {
  const { status, stdout, stderr } = await runInstalled('biome', ['format', `--stdin-file-path=${name}`], text);
  if (status !== 0) throw new Error(`biome could not format the generated code: ${stderr}`);
  return stdout;
}

async function main(): Promise<void> {
  if (process.argv.includes('--check')) {
    const problems = await checkGenerated();
    for (const problem of problems) console.error(problem);
    if (problems.length > 0) process.exitCode = 1;
  } else {
    for (const [file, text] of await generate()) await writeFile(inRepository(file), text);
  }
}

if (import.meta.main) await main();
