import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as typescriptResolvers from '@graphql-codegen/typescript-resolvers';
import { parse, Source } from 'graphql';
import { inRepository, runInstalled } from './repository.ts';

export const generatedFile = 'src/resolvers/resolver-types.generated.ts';

const header = '// Made from schema.graphql by `npm run generate`: change that, not this.\n';

/** What the parents of the resolvers are; paths are seen from the generated file. */
const mappers = {
  User: '../data/tables.ts#PublicUser',
  ApiKey: '../data/tables.ts#ApiKeyRow',
  Post: '../data/tables.ts#PostRow',
  Room: '../data/tables.ts#RoomRow',
  Pagination: '../data/pages.ts#Pagination as PaginationModel',
  UserPage: '../data/pages.ts#UserPage as UserPageModel',
  PostPage: '../data/pages.ts#PostPage as PostPageModel',
  RoomPage: '../data/pages.ts#RoomPage as RoomPageModel',
  PageInfo: '../data/pages.ts#PageInfo as PageInfoModel',
  PostConnection: '../data/pages.ts#PostConnection as PostConnectionModel',
  PostEdge: '../data/pages.ts#PostEdge as PostEdgeModel',
  RoomMemberConnection: '../data/pages.ts#RoomMemberConnection as RoomMemberConnectionModel',
  RoomMemberEdge: '../data/pages.ts#RoomMemberEdge as RoomMemberEdgeModel',
  RoomEvent: '../data/events.ts#RoomEvent as RoomEventModel',
  PostCreated: '../data/events.ts#RoomEvent as RoomEventModel',
  PostUpdated: '../data/events.ts#RoomEvent as RoomEventModel',
  PostDeleted: '../data/events.ts#RoomEvent as RoomEventModel',
  MemberJoined: '../data/events.ts#RoomEvent as RoomEventModel',
  MemberLeft: '../data/events.ts#RoomEvent as RoomEventModel',
  RoomUpdated: '../data/events.ts#RoomEvent as RoomEventModel',
};

const config = {
  contextType: './context.ts#Context',
  mappers,
  // Milliseconds since 1970 on our side; the scalar reads and writes the text.
  scalars: { DateTime: 'number', ID: 'string' },
  // A new scalar stops the generator until it stands in the list above.
  strictScalars: true,
  enumsAsTypes: true,
  skipTypename: true,
  useTypeImports: true,
  // `undefined` stands in both, because exactOptionalPropertyTypes reads `?` as "may be absent" alone.
  maybeValue: 'T | null | undefined',
  inputMaybeValue: 'T | null | undefined',
};

/** The text of the generated file, as schema.graphql has it now. */
export async function generate(): Promise<string> {
  const sdl = await readFile(inRepository('schema.graphql'), 'utf8');
  const code = await codegen({
    filename: generatedFile,
    schema: parse(new Source(sdl, 'schema.graphql')),
    documents: [],
    config,
    plugins: [{ typescript: {} }, { typescriptResolvers: {} }],
    pluginMap: { typescript, typescriptResolvers },
  });
  return format(header + admitNulls(code));
}

/** What is wrong with the generated file on disk; nothing when it is fresh. */
export async function checkGenerated(): Promise<string[]> {
  const [fresh, present] = await Promise.all([generate(), readPresent()]);
  return fresh === present ? [] : [`${generatedFile} is stale: npm run generate`];
}

/** A default answers an absent argument, not an explicit null: codegen's helper denies that the null arrives. */
function admitNulls(code: string): string {
  const admitting = code.replace('[P in K]-?: NonNullable<T[P]>', '[P in K]-?: Exclude<T[P], undefined>');
  if (admitting === code) throw new Error('RequireFields has changed: see what it says of null now');
  return admitting;
}

async function format(code: string): Promise<string> {
  // Under another name, because biome.json leaves *.generated.ts alone.
  const { status, stdout, stderr } = await runInstalled('biome', ['format', '--stdin-file-path=generated.ts'], code);
  if (status !== 0) throw new Error(`biome could not format the generated code: ${stderr}`);
  return stdout;
}

async function readPresent(): Promise<string> {
  return existsSync(inRepository(generatedFile)) ? readFile(inRepository(generatedFile), 'utf8') : '';
}

async function main(): Promise<void> {
  if (!process.argv.includes('--check')) return writeFile(inRepository(generatedFile), await generate());
  const problems = await checkGenerated();
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.main) await main();
