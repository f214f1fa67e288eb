import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type GraphQLSchema, parse, validate } from 'graphql';
import { LRUCache } from 'lru-cache';
import { BadSetting } from '../../bad-setting.ts';
import { ClientError } from '../../errors.ts';

/** How a request names its document: by its text, by an id or hash, or by both. */
export interface DocumentReference {
  query: string | undefined;
  documentId: string | undefined;
  /** SHA-256 of the text, in hex. */
  documentHash: string | undefined;
}

/** Where the text of a request's document comes from. */
export interface DocumentSource {
  /** @throws ClientError PERSISTED_QUERY_NOT_FOUND, DOCUMENT_NOT_TRUSTED or INVALID_REQUEST. */
  find(reference: DocumentReference): string;
  /** Called after the document was validated. */
  cache(reference: DocumentReference): void;
}

const maxDocuments = 1_000;
const maxTextLength = 4_000_000;

/**
 * Any document runs. The text of a document that was sent with its hash is cached, and later requests may send the hash
 * alone.
 */
export function createAutomaticDocuments(): DocumentSource {
  const texts = new LRUCache<string, string>({
    max: maxDocuments,
    maxSize: maxTextLength,
    sizeCalculation: (text, name) => text.length + name.length,
  });
  return {
    find({ query, documentHash }) {
      const text = query ?? (documentHash === undefined ? undefined : texts.get(documentHash));
      if (text === undefined) throw new ClientError('PERSISTED_QUERY_NOT_FOUND');
      if (query !== undefined && documentHash !== undefined && documentHash !== hashOf(query)) {
        throw new ClientError('INVALID_REQUEST', '"sha256Hash" is not the SHA-256 of "query".');
      }
      return text;
    },
    cache({ query, documentHash }) {
      if (query !== undefined && documentHash !== undefined) texts.set(documentHash, query);
    },
  };
}

/** Only the documents of a JSON file `{ "<id>": "<document>", … }` run. @throws BadSetting. */
export function loadTrustedDocuments(file: string, schema: GraphQLSchema): DocumentSource {
  const byId = readDocuments(file);
  for (const [id, text] of byId) assertFits(schema, text, `${file} (document ${JSON.stringify(id)})`);
  const byHash = new Map([...byId.values()].map((text) => [hashOf(text), text]));
  const texts = new Set(byId.values());
  return {
    find({ query, documentId, documentHash }) {
      const text = documentId !== undefined ? byId.get(documentId) : byHash.get(documentHash ?? '');
      const named = documentId === undefined && documentHash === undefined ? query : text;
      if (named === undefined || !texts.has(named) || (query ?? named) !== named) {
        throw new ClientError('DOCUMENT_NOT_TRUSTED');
      }
      return named;
    },
    cache() {},
  };
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex');
}

function readDocuments(file: string): Map<string, string> {
  const parsed = readJson(file);
  const entries = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? Object.entries(parsed) : [];
  const documents = entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  if (documents.length === 0 || documents.length < entries.length) {
    throw badFile(file, 'must be a JSON file of one object whose keys are ids and whose values are documents');
  }
  return new Map(documents);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw badFile(file, error instanceof SyntaxError ? 'must be a JSON file' : 'must be a file that can be read');
  }
}

function assertFits(schema: GraphQLSchema, text: string, name: string): void {
  try {
    const [error] = validate(schema, parse(text));
    if (error) throw error;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw badFile(name, `must contain documents that are valid for the schema: ${reason}`);
  }
}

function badFile(name: string, rule: string): BadSetting {
  return new BadSetting('TRUSTED_DOCUMENTS', name, rule);
}
