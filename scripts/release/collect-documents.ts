import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  NoDeprecatedCustomRule,
  parse,
  print,
  visit,
} from 'graphql';
import { isFragment, languages, listDocuments, validateDocument } from '../check/document-texts.ts';
import { listSamples, readDocuments } from '../check/documents.ts';
import { isOfExtension } from '../check/samples.ts';

/** The documents of each file. */
export type DocumentsByFile = Record<string, string[]>;

/** The pages that the server sends, the clients and the examples. */
const files = ['src/transport/{graphiql,console}/**/*', '{clients,examples}/**/*'];
/** Tests also contain documents that must be refused. The documents of extensions need their types. */
const excluded = [
  '**/{node_modules,dist}/**',
  '**/package-lock.json',
  '**/*.test.*',
  '**/test_*',
  'examples/extensions/**',
  'examples/chat/src/board/**',
];

/**
 * The GraphQL documents of the documentation and of `files`. A document that uses fragments has those of its project
 * added. @throws Error if a document is not valid, or uses a deprecated element.
 */
export async function collectDocuments(root: string, schema: GraphQLSchema): Promise<DocumentsByFile> {
  const texts = [...(await readSamples(root)), ...(await readFiles(root))];
  const byProject = Map.groupBy(texts, ({ file }) => file.split('/', 2).join('/'));
  const found = byProject.values().flatMap((project) => complete(schema, project));
  const byFile = Object.groupBy(found, ({ file }) => file);
  return Object.fromEntries(
    Object.entries(byFile).map(([file, own = []]) => [file, [...new Set(own.map(({ text }) => text))]]),
  );
}

interface Text {
  file: string;
  text: string;
}

async function readSamples(root: string): Promise<Text[]> {
  const pages = (await readDocuments(root)).filter(({ path }) => /^(docs\/|[A-Z]+\.md)/.test(path));
  return pages
    .flatMap(listSamples)
    .filter(({ code }) => !isOfExtension(code))
    .flatMap(({ path, language, code }) => listDocuments(language, code).map((text) => ({ file: path, text })));
}

async function readFiles(root: string): Promise<Text[]> {
  const patterns = files.map((pattern) => `${pattern}.{${languages.join(',')}}`);
  const paths = globSync(patterns, { cwd: root, exclude: excluded });
  const read = paths.sort().map(async (path) => {
    const texts = listDocuments(extname(path).slice(1), await readFile(join(root, path), 'utf8'));
    return texts.map((text) => ({ file: path.split(sep).join('/'), text }));
  });
  return (await Promise.all(read)).flat();
}

/** The documents with operations, each with the fragments that it uses and does not have. */
function complete(schema: GraphQLSchema, texts: readonly Text[]): Text[] {
  const fragments = texts.filter(({ text }) => isFragment(text)).flatMap(({ text }) => listFragments(parse(text)));
  const operations = texts.filter(({ text }) => !isFragment(text));
  return operations.flatMap(({ file, text }) => {
    const completed = addFragments(text, fragments);
    if (isCompiledFirst(schema, completed)) return [];
    const [problem] = validateDocument(schema, completed, [NoDeprecatedCustomRule]);
    if (problem) throw new Error(`${file}: ${problem}\n${completed}`);
    return { file, text: completed };
  });
}

function listFragments({ definitions }: DocumentNode): FragmentDefinitionNode[] {
  return definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
}

function addFragments(text: string, fragments: readonly FragmentDefinitionNode[]): string {
  const missing = findMissing(text);
  const added = fragments.filter(({ name }) => missing.delete(name.value)).map(print);
  return added.length === 0 ? text : addFragments([text, ...added].join('\n'), fragments);
}

/** The names of the fragments that the document uses and does not have. */
function findMissing(text: string): Set<string> {
  const used = new Set<string>();
  const defined = new Set<string>();
  visitDocument(text, {
    FragmentSpread: ({ name }) => void used.add(name.value),
    FragmentDefinition: ({ name }) => void defined.add(name.value),
  });
  return new Set([...used].filter((name) => !defined.has(name)));
}

/** Whether a compiler such as Relay's replaces the document: it has directives that the schema does not have. */
function isCompiledFirst(schema: GraphQLSchema, text: string): boolean {
  let hasUnknown = false;
  visitDocument(text, {
    Directive({ name }) {
      hasUnknown ||= !schema.getDirective(name.value);
    },
  });
  return hasUnknown;
}

/** A document that does not parse has nothing to visit: its validation reports it. */
function visitDocument(text: string, visitor: ASTVisitor): void {
  try {
    visit(parse(text), visitor);
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
  }
}
