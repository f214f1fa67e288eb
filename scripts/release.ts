import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildSchema } from 'graphql';
import { titleOf } from './check/evolution.ts';
import { collectDocuments } from './release/collect-documents.ts';
import { inRepository } from './repository.ts';

/*
 * npm run release: writes what version of package.json promises to clients, its schema and the documents that were
 * published for it. `npm run check` compares later changes with them.
 */

const root = process.argv[2] ?? inRepository();
const schemaFile = join(root, 'schema.released.graphql');
const documentsFile = join(root, 'documents.released.json');

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const title = titleOf(version);
const isWritten = existsSync(schemaFile) && (await readFile(schemaFile, 'utf8')).startsWith(title);
if (isWritten) {
  console.error(`${schemaFile} is that of version ${version} already: set the new version in package.json.`);
  process.exitCode = 1;
} else await write();

async function write(): Promise<void> {
  const sdl = await readFile(join(root, 'schema.graphql'), 'utf8');
  const documents = await collectDocuments(root, buildSchema(sdl));
  await writeFile(schemaFile, title + sdl);
  await writeFile(documentsFile, `${JSON.stringify(documents, null, 2)}\n`);
  const count = Object.values(documents).flat().length;
  console.log(`Version ${version}: the schema, and ${count} documents of ${Object.keys(documents).length} files.`);
}
