import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buildSchema, extendSchema, NoDeprecatedCustomRule, parse, Source, validateSchema } from 'graphql';
import { parseSync } from 'oxc-parser';
import { inRepository } from '../repository.ts';
import { isOfClient } from './copies.ts';
import { isFragment, listCurlBodies, listDocuments, validateDocument } from './document-texts.ts';
import { listSamples, readDocuments, type Sample } from './documents.ts';
import { checkTypes } from './sample-types.ts';

/** Return the problems of a sample, apart from those of its GraphQL documents. */
const rules: Record<string, (code: string) => string[]> = {
  graphql: () => [],
  sdl: checkExtension,
  json: checkJson,
  js: checkScript,
  ts: checkScript,
  tsx: checkTsx,
  sh: (code) => listCurlBodies(code).flatMap(checkJson),
  mermaid: () => [],
  // Only copies of files in clients/, which run.
  python: () => [],
};

/** The code blocks of the documentation that are wrong. */
export async function checkSamples(root = inRepository()): Promise<string[]> {
  const samples = (await readDocuments(root)).flatMap(listSamples);
  const schema = buildSchema(new Source(await readFile(inRepository('schema.graphql'), 'utf8'), 'schema.graphql'));
  const problems = samples.flatMap(({ language, code, place }) => {
    const rule = rules[language];
    const found = rule ? rule(code) : [`there is no check for the language "${language}"`];
    const documents = isOfExtension(code) ? [] : listDocuments(language, code).filter((text) => !isFragment(text));
    const invalid = documents.flatMap((text) => validateDocument(schema, text, [NoDeprecatedCustomRule]));
    return [...found, ...invalid].map((problem) => `${place}: ${problem}`);
  });
  // The clients check their own types.
  const isChecked = (sample: Sample) => !isOfClient(sample) && !isOfExtension(sample.code);
  return [...problems, ...(await checkTypes(samples.filter(isChecked)))];
}

/** test/extensions/documented.test.ts runs the extension and its test, whose documents need its schema. */
export function isOfExtension(code: string): boolean {
  return /'@postroom\/(?:server\/extension|extension-test)'/.test(code);
}

/** A part of a schema that extends that of Postroom. */
function checkExtension(code: string): string[] {
  const own = buildSchema(readFileSync(inRepository('schema.graphql'), 'utf8'));
  try {
    return validateSchema(extendSchema(own, parse(code))).map(({ message }) => message);
  } catch (error) {
    return [String(error)];
  }
}

/** One value, or one value in each line. */
function checkJson(code: string): string[] {
  if (isJson(code)) return [];
  return code.split('\n').flatMap((line) => (isJson(line) ? [] : `not JSON: ${line}`));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function checkScript(code: string): string[] {
  return parseSync('sample.ts', code).errors.map(({ message }) => message);
}

function checkTsx(code: string): string[] {
  return parseSync('sample.tsx', code).errors.map(({ message }) => message);
}
