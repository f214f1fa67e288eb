import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildSchema, type GraphQLSchema, parse, Source, validate } from 'graphql';
import { parseSync, Visitor } from 'oxc-parser';
import { inRepository, runInstalled } from '../repository.ts';
import { readDocuments } from './documents.ts';

/** A code block of a document. */
interface Sample {
  /** The path and line of the document. */
  place: string;
  path: string;
  language: string;
  code: string;
}

/** Returns what is wrong with a sample. */
type Rule = (sample: Sample, schema: GraphQLSchema) => string[];

const rules: Record<string, Rule> = {
  graphql: ({ code }, schema) => checkGraphQL(code, schema),
  json: ({ code }) => checkJson(code),
  js: ({ code }, schema) => checkScript(code, schema),
  ts: ({ code }, schema) => checkScript(code, schema),
  sh: ({ code }, schema) => listShellQueries(code).flatMap((query) => checkGraphQL(query, schema)),
  mermaid: () => [],
};

/** The code blocks of the documentation that are wrong. */
export async function checkSamples(root = inRepository()): Promise<string[]> {
  const samples = await readSamples(root);
  const schema = buildSchema(new Source(await readFile(inRepository('schema.graphql'), 'utf8'), 'schema.graphql'));
  const problems = samples.flatMap((sample) => {
    const rule = rules[sample.language];
    const found = rule ? rule(sample, schema) : [`there is no check for the language "${sample.language}"`];
    return found.map((problem) => `${sample.place}: ${problem}`);
  });
  return [...problems, ...(await checkTypes(samples))];
}

async function readSamples(root: string): Promise<Sample[]> {
  const documents = await readDocuments(root);
  return documents.flatMap(({ path, text, tokens }) =>
    tokens.flatMap((token) => {
      if (token.type !== 'code') return [];
      const line = text.slice(0, text.indexOf(token.raw)).split('\n').length;
      return { place: `${path}:${line}`, path, language: token.lang ?? '', code: token.text };
    }),
  );
}

function checkGraphQL(query: string, schema: GraphQLSchema): string[] {
  try {
    return validate(schema, parse(query)).map(({ message }) => message);
  } catch (error) {
    return [String(error)];
  }
}

/** One value, or one value in each line. */
function checkJson(code: string): string[] {
  if (isJson(code)) return [];
  return code.split('\n').flatMap((line) => (isJson(line) ? [] : `this is not JSON: ${line}`));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Checks the syntax, and the documents in template literals. */
function checkScript(code: string, schema: GraphQLSchema): string[] {
  const { program, errors } = parseSync('sample.ts', code);
  const problems = errors.map(({ message }) => message);
  new Visitor({
    TemplateElement({ value: { raw } }) {
      if (/^\s*(query|mutation|subscription)\b/.test(raw)) problems.push(...checkGraphQL(raw, schema));
    },
  }).visit(program);
  return problems;
}

/** The documents in the bodies and parameters of curl, with a placeholder for each variable of the shell. */
function listShellQueries(code: string): string[] {
  const text = code.replaceAll(/'?\$[A-Z]+'?/g, 'VARIABLE');
  const bodies = [...text.matchAll(/'(\{"query":[^']*\})'/g)].map(([, body = '']) => JSON.parse(body).query);
  const parameters = [...text.matchAll(/"query=((?:\\.|[^"\\])*)"/g)].map(([, value = '']) =>
    value.replaceAll('\\"', '"'),
  );
  return [...bodies, ...parameters];
}

const tsconfig = {
  compilerOptions: {
    ...{ allowJs: true, checkJs: true, noEmit: true, strict: false, skipLibCheck: true },
    ...{ target: 'es2024', lib: ['es2024', 'dom'], module: 'nodenext', types: ['node'] },
  },
};

/** An error of the compiler. JavaScript reads properties of a value whose type is unknown; that is not an error here. */
const typeError = /^\S.*: error (?!.* on type 'unknown').*$/gm;

/** Packages of samples that this repository does not install. */
const declarations = "declare module 'relay-runtime';\n";

/** Type-checks the modules among the samples, each document in its own folder. */
async function checkTypes(samples: readonly Sample[]): Promise<string[]> {
  const modules = samples.filter(({ language, code }) => /^[jt]s$/.test(language) && /^(import|export)\b/m.test(code));
  if (modules.length === 0) return [];
  const folder = await mkdtemp(join(tmpdir(), 'postroom-samples-'));
  try {
    await symlink(inRepository('node_modules'), join(folder, 'node_modules'));
    const names = modules.map(nameModule);
    const files: Record<string, string> = {
      'package.json': '{ "type": "module" }',
      'tsconfig.json': JSON.stringify({ ...tsconfig, files: ['declarations.d.ts', ...names] }),
      'declarations.d.ts': declarations,
      ...Object.fromEntries(modules.map(({ code }, index) => [names[index], code])),
    };
    for (const [name, text] of Object.entries(files)) await writeWithFolder(join(folder, name), text);
    const { status, stdout } = await runInstalled('tsc', ['-p', folder]);
    return status === 0 ? [] : (stdout.replaceAll(/\S*postroom-samples-\w+\//g, '').match(typeError) ?? []);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The name in the comment of the first line, or else the line of the sample. */
function nameModule({ place, path, language, code }: Sample): string {
  const [, name] = /^\/\/ (\S+)\n/.exec(code) ?? [];
  return `${path}/${name ?? `${place.split(':')[1]}.${language}`}`;
}

async function writeWithFolder(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
