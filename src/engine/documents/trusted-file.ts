import { readFileSync } from 'node:fs';
import { BadSetting } from '../../bad-setting.ts';

/** A document of the file, with the operation that a manifest says it has. */
export interface FileDocument {
  id: string;
  text: string;
  operation?: { name: unknown; type: unknown };
}

/** Reports a problem: a rule of the file, as in `BadSetting`, and the place in the file that breaks it. */
export type Report = (rule: string, place: string) => void;

/** A document of which nothing has been checked. */
interface Entry extends Omit<FileDocument, 'id' | 'text'> {
  id: unknown;
  text: unknown;
  place: string;
}

/** https://www.apollographql.com/docs/graphos/platform/security/persisted-queries */
const apolloFormat = 'apollo-persisted-query-manifest';
const formats = `must be a JSON object of ids and documents, or have the "format" "${apolloFormat}" and the "version" 1`;

/**
 * Reads the manifest of Apollo's generators, or the object `{ "<id>": "<document>", … }` of the others. Leaves out the
 * documents that it reports. @throws BadSetting if nothing can be read.
 */
export function readTrustedFile(file: string, report: Report): FileDocument[] {
  const entries = listEntries(readJson(file));
  if (!entries) throw badFile(file, formats);
  if (entries.length === 0) throw badFile(file, 'must contain a document');
  return entries.flatMap(({ id, text, place, ...operation }) => {
    if (typeof id === 'string' && id !== '' && typeof text === 'string') return { id, text, ...operation };
    report('must have an id and a text (the "body" in a manifest) for each document', place);
    return [];
  });
}

export function badFile(place: string, rule: string): BadSetting {
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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
