import { type GraphQLSchema, parse, specifiedRules, type ValidationRule, validate } from 'graphql';
import { parseSync, Visitor } from 'oxc-parser';

/** The texts of the GraphQL documents in a file or sample. */
type Find = (code: string) => string[];

const finders: Record<string, Find> = {
  graphql: (code) => [code],
  js: inScript('js'),
  jsx: inScript('jsx'),
  ts: inScript('ts'),
  tsx: inScript('tsx'),
  py: (code) =>
    [...code.matchAll(/"""(.*?)"""|"(.*?)"|'(.*?)'/gs)].map((match) => match.slice(1).join('')).filter(isDocument),
  json: (code) => listStrings(parseJson(code)).filter(isDocument),
  sh: inShell,
};

/** The languages, which are also the extensions of files. */
export const languages = Object.keys(finders);

/** The GraphQL documents in code of a language; none if the language is not known. */
export function listDocuments(language: string, code: string): string[] {
  return finders[language]?.(code) ?? [];
}

/** The problems of a document. */
export function validateDocument(schema: GraphQLSchema, text: string, more: readonly ValidationRule[] = []): string[] {
  try {
    return validate(schema, parse(text), [...specifiedRules, ...more]).map(({ message }) => message);
  } catch (error) {
    return [String(error)];
  }
}

/** The strings and template literals that are documents. Fragments that a template inserts are left out. */
function inScript(language: 'js' | 'jsx' | 'ts' | 'tsx'): Find {
  return (code) => {
    const texts: string[] = [];
    new Visitor({
      Literal: ({ value }) => void (typeof value === 'string' && texts.push(value)),
      TemplateLiteral: ({ quasis }) => void texts.push(quasis.map(({ value }) => value.cooked ?? '').join('')),
    }).visit(parseSync(`code.${language}`, code).program);
    return texts.filter(isDocument);
  };
}

function listStrings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listStrings) : [];
}

/** The documents in the bodies and parameters of curl. */
function inShell(code: string): string[] {
  const queries = [...withoutVariables(code).matchAll(/"query=((?:\\.|[^"\\])*)"/g)].map(([, query = '']) => query);
  return [
    ...listCurlBodies(code).flatMap((body) => listStrings(parseJson(body, 'query'))),
    ...queries.map((query) => query.replaceAll('\\"', '"')),
  ];
}

/** The GraphQL requests that curl sends. */
export function listCurlBodies(code: string): string[] {
  return [...withoutVariables(code).matchAll(/'(\{"query":[^']*\})'/g)].map(([, body = '']) => body);
}

/** With a placeholder for each variable of the shell. */
function withoutVariables(code: string): string {
  return code.replaceAll(/'?\$[A-Z]+'?/g, 'VARIABLE');
}

/** The value, or that of one of its keys; undefined if the text is not JSON. */
function parseJson(text: string, key?: string): unknown {
  try {
    const value = JSON.parse(text);
    return key === undefined ? value : value[key];
  } catch {
    return undefined;
  }
}

/** Whether the document has only fragments, which other documents use. */
export function isFragment(text: string): boolean {
  return /^\s*fragment\b/.test(text) && !/^(query|mutation|subscription)\b/m.test(text);
}

/** A text that begins with a keyword and has a selection set; or a selection set alone, which must parse. */
function isDocument(text: string): boolean {
  const code = text.replace(/^(\s|#.*\n)+/, '');
  if (/^(query|mutation|subscription|fragment)\b[^{]*\{/.test(code)) return true;
  return /^\{\s*\w/.test(code) && canParse(code);
}

function canParse(text: string): boolean {
  try {
    parse(text);
    return true;
  } catch {
    return false;
  }
}
