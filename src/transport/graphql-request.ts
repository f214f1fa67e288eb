import { isObject } from '../common/is-object.ts';
import type { GraphQLRequest } from '../engine/operation.ts';
import { ClientError } from '../errors.ts';

const noBatches = 'Batching is not supported: send one request, which is a JSON object, for each operation.';

const noDocument = '"query" must be a string, unless "documentId" names the document.';

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
