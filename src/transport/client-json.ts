import { isObject } from '../common/is-object.ts';
import { parseJson } from '../common/parsers.ts';
import type { GraphQLRequest } from '../engine/operation.ts';
import { ClientError } from '../errors.ts';

const maxDepth = 64;
/** The longest list that a client needs has the 2,000 cursors of an inbox. */
const maxValues = 5_000;

const quote = '"'.charCodeAt(0);
const backslash = '\\'.charCodeAt(0);

const noBatches = 'Batching is not supported: send one request, which is a JSON object, for each operation.';
const noDocument = '"query" must be a string, unless "documentId" names the document.';

/** Parses the JSON of a client. @throws ClientError BAD_REQUEST. */
export function parseClientJson(text: string): unknown {
  // A shorter text is within the limits.
  if (text.length > 2 * maxDepth) assertWithinLimits(text);
  const value = parseJson(text);
  if (value === undefined) throw new ClientError('BAD_REQUEST', 'The JSON does not parse.');
  return value;
}

/**
 * Checks the limits before the parse, which takes up to 50 ms for many values in 1 MB. JSON.parse itself has no limit of
 * depth, and functions that walk the result recursively would overflow the stack.
 */
function assertWithinLimits(text: string): void {
  let depth = 0;
  let values = 1;
  for (let index = 0; index < text.length; index += 1) {
    switch (text[index]) {
      case '"':
        index = findEndOfString(text, index + 1);
        break;
      case ',':
        values += 1;
        break;
      case '[':
      case '{':
        depth += 1;
        values += 1;
        break;
      case ']':
      case '}':
        depth -= 1;
    }
    if (depth > maxDepth) throw new ClientError('BAD_REQUEST', `The JSON is nested deeper than ${maxDepth}.`);
    if (values > maxValues) throw new ClientError('BAD_REQUEST', `The JSON has more than ${maxValues} values.`);
  }
}

/** The index of the quote that ends the string; the end of the text if there is none. */
function findEndOfString(text: string, start: number): number {
  const end = text.indexOf('"', start);
  if (end === -1) return text.length;
  if (text.charCodeAt(end - 1) !== backslash) return end;
  let index = start;
  while (index < text.length && text.charCodeAt(index) !== quote) index += text.charCodeAt(index) === backslash ? 2 : 1;
  return index;
}

/**
 * Unknown keys are ignored; null counts as absent. @throws ClientError INVALID_REQUEST if it is not a request object.
 */
export function toGraphQLRequest(value: unknown): GraphQLRequest {
  if (Array.isArray(value)) throw new ClientError('INVALID_REQUEST', noBatches);
  if (!isObject(value)) throw new ClientError('INVALID_REQUEST', 'A GraphQL request is a JSON object.');
  const extensions = readObject(value, 'extensions');
  const documentId = readString(value, 'documentId');
  const documentHash = readDocumentHash(extensions?.['persistedQuery']);
  const query = readString(value, 'query');
  const isNamed = documentId !== undefined || documentHash !== undefined;
  if (query === undefined && !isNamed) throw new ClientError('INVALID_REQUEST', noDocument);
  return {
    // Some clients must send a `query`; they send an empty one together with the id or the hash.
    query: isNamed ? query || undefined : query,
    documentId,
    documentHash,
    operationName: readString(value, 'operationName'),
    variables: readObject(value, 'variables'),
    extensions,
  };
}

function readString(request: Record<string, unknown>, key: string): string | undefined {
  const value = request[key] ?? undefined;
  if (value !== undefined && typeof value !== 'string') {
    throw new ClientError('INVALID_REQUEST', `"${key}" must be a string.`);
  }
  return value;
}

function readObject(request: Record<string, unknown>, key: string): Record<string, unknown> | undefined {
  const value = request[key] ?? undefined;
  if (value !== undefined && !isObject(value)) throw new ClientError('INVALID_REQUEST', `"${key}" must be an object.`);
  return value;
}

/** The name of a document in the format of Apollo's clients (persisted queries). */
function readDocumentHash(persistedQuery: unknown): string | undefined {
  if (persistedQuery == null) return undefined;
  const { version, sha256Hash } = isObject(persistedQuery) ? persistedQuery : {};
  if (version === 1 && typeof sha256Hash === 'string') return sha256Hash;
  throw new ClientError('INVALID_REQUEST', '"persistedQuery" must be { version: 1, sha256Hash } with a string.');
}
