import { readFile } from 'node:fs/promises';
import { buildSchema, type GraphQLSchema, parse, Source, validate } from 'graphql';
import { parseSync, Visitor } from 'oxc-parser';
import { inRepository } from '../repository.ts';
import { listSamples, readDocuments } from './documents.ts';
import { checkTypes } from './sample-types.ts';

/** Returns the problems of a sample. */
type Rule = (code: string, schema: GraphQLSchema) => string[];

const rules: Record<string, Rule> = {
  graphql: checkGraphQL,
  json: checkJson,
  js: checkScript,
  ts: checkScript,
  sh: checkShell,
  mermaid: () => [],
};

/** The code blocks of the documentation that are wrong. */
export async function checkSamples(root = inRepository()): Promise<string[]> {
  const samples = (await readDocuments(root)).flatMap(listSamples);
  const schema = buildSchema(new Source(await readFile(inRepository('schema.graphql'), 'utf8'), 'schema.graphql'));
  const problems = samples.flatMap((sample) => {
    const rule = rules[sample.language];
    const found = rule ? rule(sample.code, schema) : [`there is no check for the language "${sample.language}"`];
    return found.map((problem) => `${sample.place}: ${problem}`);
  });
  return [...problems, ...(await checkTypes(samples))];
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

/** Checks the documents in the bodies and parameters of curl, with a placeholder for each variable of the shell. */
function checkShell(code: string, schema: GraphQLSchema): string[] {
  const text = code.replaceAll(/'?\$[A-Z]+'?/g, 'VARIABLE');
  const bodies = [...text.matchAll(/'(\{"query":[^']*\})'/g)].map(([, body = '']) => body);
  const queries = [...text.matchAll(/"query=((?:\\.|[^"\\])*)"/g)].map(([, query = '']) =>
    query.replaceAll('\\"', '"'),
  );
  return [
    ...bodies.flatMap((body) => (isJson(body) ? checkGraphQL(JSON.parse(body).query, schema) : `not JSON: ${body}`)),
    ...queries.flatMap((query) => checkGraphQL(query, schema)),
  ];
}
