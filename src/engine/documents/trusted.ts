import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type DocumentNode, GraphQLError, Kind } from 'graphql';
import { isObject } from '../../common/is-object.ts';
import { BadSetting } from '../../config/bad-setting.ts';
import { ClientError } from '../../errors.ts';
import type { DocumentCheck } from './document-check.ts';
import type { DocumentSource } from './documents.ts';

/** A document of the file, with the operation that a manifest says it has. */
interface FileDocument {
  id: string;
  text: string;
  operation?: { name: unknown; type: unknown };
}

/** Reports a problem: a rule of the file, as in `BadSetting`, and the place in the file that breaks it. */
type Report = (rule: string, place: string) => void;

/** A document of which nothing has been checked, and its place in the file. */
type Entry = { id: unknown; text: unknown; place: string } & Pick<FileDocument, 'operation'>;

/** https://www.apollographql.com/docs/graphos/platform/security/persisted-queries */
const apolloFormat = 'apollo-persisted-query-manifest';
const formats = `must be a JSON object of ids and documents, or have the "format" "${apolloFormat}" and the "version" 1`;

const notOneDocument = 'The request must name one trusted document; a "query" must be exactly its text.';
const maxProblems = 50;
/** In characters; the text of a problem may come from the file. */
const maxRuleLength = 400;
const maxPlaceLength = 200;

/**
 * Only the documents of the file run. @throws BadSetting, or an AggregateError of several: the problems of the file, of
 * which those after the first 50 are counted.
 */
export function loadTrustedDocuments(file: string, check: DocumentCheck): DocumentSource {
  const problems: BadSetting[] = [];
  const report: Report = (rule, place) =>
    void problems.push(badFile(`${file}: ${shorten(place, maxPlaceLength)}`, shorten(rule, maxRuleLength)));
  const documents = readTrustedFile(file, report);
  for (const document of documents) checkDocument(document, check, report);
  const byName = nameTexts(documents, report);
  const others = problems.splice(maxProblems).length;
  if (others > 0) problems.push(badFile(file, `has ${others} more problem${others === 1 ? '' : 's'}`));
  if (problems.length > 0) throw new AggregateError(problems);
  return createTrustedDocuments(byName);
}

/**
 * A request may name its document several times, but all names must be those of one document. The text must be exactly
 * that of the document: to compare texts that only mean the same, the server would have to parse texts of anybody.
 */
function createTrustedDocuments(byName: ReadonlyMap<string, string>): DocumentSource {
  const trusted = new Set(byName.values());
  return {
    find({ query, documentId, documentHash }) {
      const names = [documentId, documentHash].filter((name) => name !== undefined);
      const texts = [...names.map((name) => byName.get(name)), ...(query === undefined ? [] : [query])];
      const [text] = texts;
      if (text === undefined || !trusted.has(text)) throw new ClientError('DOCUMENT_NOT_TRUSTED');
      if (texts.some((other) => other !== text)) throw new ClientError('DOCUMENT_NOT_TRUSTED', notOneDocument);
      return text;
    },
    cache() {},
  };
}

/** The texts by all their names. */
function nameTexts(documents: readonly FileDocument[], report: Report): Map<string, string> {
  const byName = new Map<string, string>();
  for (const { id, text } of documents) {
    for (const name of namesOf(id, text)) {
      const other = byName.get(name);
      if (other === undefined) byName.set(name, text);
      else if (other !== text) report('must not name two different documents by one id or hash', `document ${name}`);
    }
  }
  return byName;
}

/** https://github.com/graphql/graphql-over-http/blob/persisted-documents/spec/Appendix%20A%20--%20Persisted%20Documents.md */
function namesOf(id: string, text: string): string[] {
  const sha256 = hash('sha256', text, 'hex');
  return [id, sha256, `sha256:${sha256}`, hash('md5', text, 'hex')];
}

function checkDocument({ id, text, operation }: FileDocument, check: DocumentCheck, report: Report): void {
  const { document, errors } = tryCheck(text, check);
  for (const error of errors) {
    report(`must contain valid documents: ${error.message}`, `${positionOf(error)}document ${id}`);
  }
  if (document && operation && !hasOnly(document, operation)) {
    report('must have one operation for each "body", with the given "name" and "type"', `document ${id}`);
  }
}

function tryCheck(text: string, check: DocumentCheck): { document?: DocumentNode; errors: readonly Error[] } {
  try {
    return check(text);
  } catch (error) {
    if (error instanceof GraphQLError || error instanceof ClientError) return { errors: [error] };
    throw error;
  }
}

function hasOnly({ definitions }: DocumentNode, { name, type }: NonNullable<FileDocument['operation']>): boolean {
  const [operation, ...others] = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  return others.length === 0 && operation?.name?.value === name && operation?.operation === type;
}

function positionOf(error: Error): string {
  const [location] = (error instanceof GraphQLError && error.locations) || [];
  return location ? `line ${location.line}, column ${location.column} of ` : '';
}

/** One line, because each problem is one line of the output. */
function shorten(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ');
  return line.length > length ? `${line.slice(0, length)}…` : line;
}

/**
 * Reads the manifest of Apollo's generators, or the object `{ "<id>": "<document>", … }` of the others. Leaves out the
 * documents that it reports. @throws BadSetting if nothing can be read.
 */
function readTrustedFile(file: string, report: Report): FileDocument[] {
  const entries = listEntries(readJson(file));
  if (!entries) throw badFile(file, formats);
  if (entries.length === 0) throw badFile(file, 'must contain a document');
  return entries.flatMap(({ id, text, place, ...operation }) => {
    if (typeof id === 'string' && id !== '' && typeof text === 'string') return { id, text, ...operation };
    report('must have an id and a text (the "body" in a manifest) for each document', place);
    return [];
  });
}

function badFile(place: string, rule: string): BadSetting {
  return new BadSetting('TRUSTED_DOCUMENTS', place, rule);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw badFile(file, error instanceof SyntaxError ? 'must be a JSON file' : 'must be a file that can be read');
  }
}

function listEntries(content: unknown): Entry[] | undefined {
  if (!isObject(content)) return undefined;
  const { format, version, operations } = content;
  if (!Array.isArray(operations)) {
    return Object.entries(content).map(([id, text]) => ({ id, text, place: `document ${id}` }));
  }
  return format === apolloFormat && version === 1 ? operations.map(toEntry) : undefined;
}

function toEntry(given: unknown, index: number): Entry {
  const { id, body, name, type } = isObject(given) ? given : {};
  return { id, text: body, operation: { name, type }, place: `operations[${index}]` };
}
