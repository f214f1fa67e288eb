import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema, type DocumentNode, type GraphQLSchema, parse, Source } from 'graphql';
import type { DocumentsByFile } from '../release/collect-documents.ts';
import { inRepository } from '../repository.ts';
import { validateDocument } from './document-texts.ts';
import { findBreakingChanges, findDangerousChanges } from './evolution/schema-changes.ts';

/*
 * Compares schema.graphql with the schema and the documents of the last release. `node scripts/check/evolution.ts FOLDER` compares the files
 * of another folder.
 */

/** The first line of schema.released.graphql. */
export function titleOf(version: string): string {
  return `# The schema of version ${version}. Written by \`npm run release\`; do not edit.\n`;
}

const advice = 'This breaks clients: only what the last release deprecates may be removed.';

/** The changes since the last release that break clients, and the dangerous ones that CHANGELOG.md does not name. */
export async function checkEvolution(root = inRepository()): Promise<string[]> {
  const read = (file: string) => readFile(join(root, file), 'utf8');
  const released = parse(new Source(await read('schema.released.graphql'), 'schema.released.graphql'));
  const current = buildSchema(new Source(await read('schema.graphql'), 'schema.graphql'));
  const unreleased = readUnreleased(await read('CHANGELOG.md'));
  return [
    ...checkVersion(released, JSON.parse(await read('package.json'))),
    ...findBreakingChanges(released, current).map(({ description }) => `schema.graphql: ${description} ${advice}`),
    ...findDangerousChanges(released, current)
      .filter(({ coordinate }) => !unreleased.includes(`\`${coordinate}\``))
      .map(({ coordinate, description }) => `CHANGELOG.md: "Unreleased" must name \`${coordinate}\`: ${description}`),
    ...checkDocuments(JSON.parse(await read('documents.released.json')), current),
  ];
}

/** @param released begins with a comment that names the version. */
function checkVersion({ loc }: DocumentNode, { version }: { version: string }): string[] {
  if (loc?.source.body.startsWith(titleOf(version))) return [];
  return [`schema.released.graphql is not that of version ${version} of package.json: run npm run release`];
}

/** The problems of the documents of the last release, which must be valid for the current schema. */
function checkDocuments(documents: DocumentsByFile, schema: GraphQLSchema): string[] {
  return Object.entries(documents).flatMap(([file, texts]) =>
    texts
      .flatMap((text) => validateDocument(schema, text))
      .map((problem) => `schema.graphql: a released document of ${file} is no longer valid: ${problem}`),
  );
}

function readUnreleased(changelog: string): string {
  return changelog.split(/^## /m).find((section) => section.startsWith('[Unreleased]')) ?? '';
}

if (import.meta.main) {
  const problems = await checkEvolution(process.argv[2]);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exitCode = 1;
}
