import type { IncomingMessage } from 'node:http';
import type { GraphQLRequest } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import type { BodyReservation } from '../admission/body-budget.ts';
import { isUtf8 } from './negotiation.ts';
import { HttpRefusal } from './refusal.ts';

const maxJsonDepth = 64;
/** Chunks of a body are joined in groups of this size: each chunk takes about 300 bytes in addition to its content. */
const joinedPieces = 64;
const commonContentTypes = ['application/json', 'application/json; charset=utf-8'];

interface BodyLimits {
  maxBytes: number;
  /** The caller closes it if the body is never complete. */
  reservation: BodyReservation;
}

export interface PostOptions extends BodyLimits {
  /**
   * Called when the headers are valid: a client with `Expect: 100-continue` waits for this before it sends the body.
   */
  proceed: () => void;
}

/** Parses the body. @throws ClientError PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE, BAD_REQUEST or INVALID_REQUEST. */
export type ReadBody = () => GraphQLRequest;

/**
 * Calls `take` when the body of a POST is complete or has failed. The limits are checked while the body is read.
 * @throws ClientError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE before the body is read.
 */
export function readPostRequest(
  request: IncomingMessage,
  { maxBytes, reservation, proceed }: PostOptions,
  take: (read: ReadBody) => void,
): void {
  const { headers } = request;
  if (!commonContentTypes.includes(headers['content-type'] ?? '')) assertJson(headers['content-type']);
  assertPlain(headers['content-encoding']);
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (!reservation.fits(length)) throw new ClientError('SERVICE_UNAVAILABLE');
  proceed();
  readBody(request, { maxBytes, reservation }, (read) => take(() => toGraphQLRequest(parseJson(decodeUtf8(read())))));
}

/**
 * The GraphQL request of a GET; an empty parameter counts as absent. @throws ClientError BAD_REQUEST or
 * INVALID_REQUEST.
 */
export function readGetRequest(query = ''): GraphQLRequest {
  assertEncoded(query);
  const parameters = new URLSearchParams(query);
  const variables = parameters.get('variables');
  const extensions = parameters.get('extensions');
  return toGraphQLRequest({
    query: parameters.get('query') ?? undefined,
    documentId: parameters.get('documentId') || undefined,
    operationName: parameters.get('operationName') || undefined,
    variables: variables ? parseJson(variables) : undefined,
    extensions: extensions ? parseJson(extensions) : undefined,
  });
}

/** Whether the query of a URL names a document to execute. */
export function namesDocument(query = ''): boolean {
  const parameters = new URLSearchParams(query);
  return ['query', 'documentId', 'extensions'].some((name) => parameters.has(name));
}

/**
 * Unknown keys are ignored; null counts as absent. @throws ClientError INVALID_REQUEST if it is not a request object.
 */
export function toGraphQLRequest(value: unknown): GraphQLRequest {
  if (!isObject(value)) throw new ClientError('INVALID_REQUEST', 'A GraphQL request is a JSON object.');
  const extensions = readObject(value, 'extensions');
  const documentId = readString(value, 'documentId');
  const documentHash = readDocumentHash(extensions?.['persistedQuery']);
  const query = readString(value, 'query');
  const isNamed = documentId !== undefined || documentHash !== undefined;
  if (query === undefined && !isNamed) throw new ClientError('INVALID_REQUEST', '"query" must be a string.');
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

/** The SHA-256 of a document, in hex, in the format of Apollo's clients (persisted queries). */
function readDocumentHash(persistedQuery: unknown): string | undefined {
  if (persistedQuery == null) return undefined;
  const { version, sha256Hash } = isObject(persistedQuery) ? persistedQuery : {};
  if (version !== 1 || typeof sha256Hash !== 'string' || !/^[\da-f]{64}$/.test(sha256Hash)) {
    throw new ClientError('INVALID_REQUEST', '"persistedQuery" must be { version: 1, sha256Hash } with 64 hex digits.');
  }
  return sha256Hash;
}

function assertJson(contentType = ''): void {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (type === 'application/json' && isUtf8(parameters)) return;
  throw new HttpRefusal('UNSUPPORTED_MEDIA_TYPE', 'A POST has the Content-Type application/json, in UTF-8.', {
    accept: 'application/json; charset=utf-8',
  });
}

function assertPlain(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity') return;
  throw new HttpRefusal('UNSUPPORTED_MEDIA_TYPE', 'The body has no Content-Encoding.', {
    'accept-encoding': 'identity',
  });
}

/** Bytes after the limit are never kept, and are read only as far as the answer requires. */
function readBody(
  request: IncomingMessage,
  { maxBytes, reservation }: BodyLimits,
  take: (read: () => Buffer) => void,
): void {
  const chunks: Buffer[] = [];
  let joined = 0;
  let length = 0;
  let isOver = false;
  const end = (read: () => Buffer) => {
    if (isOver) return;
    isOver = true;
    reservation.close();
    take(read);
  };
  const refuse = (error: ClientError) => {
    chunks.length = 0;
    end(() => {
      throw error;
    });
  };
  request.on('data', (chunk: Buffer) => {
    if (isOver) return;
    length += chunk.length;
    if (length > maxBytes) return refuse(tooLarge(maxBytes));
    if (!reservation.reserve(length)) return refuse(new ClientError('SERVICE_UNAVAILABLE'));
    chunks.push(chunk);
    if (chunks.length - joined === joinedPieces) {
      chunks.push(Buffer.concat(chunks.splice(joined)));
      joined += 1;
    }
  });
  request.on('end', () => {
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    // A keep-alive connection keeps a reference to its latest request.
    chunks.length = 0;
    end(() => body);
  });
  request.on('error', () => refuse(new ClientError('BAD_REQUEST', 'The body did not arrive whole.')));
}

function tooLarge(maxBytes: number): ClientError {
  return new ClientError('PAYLOAD_TOO_LARGE', `The body is longer than ${maxBytes} bytes.`);
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString();
  // U+FFFD replaces malformed bytes, unless the client itself has sent it.
  if (!text.includes('\ufffd')) return text;
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The body is not UTF-8.');
  }
}

/** Rejects malformed encoding, which URLSearchParams would silently replace. */
function assertEncoded(query: string): void {
  if (!query.includes('%')) return;
  try {
    decodeURIComponent(query);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The query of the URL is not UTF-8 in percent-encoding.');
  }
}

function parseJson(text: string): unknown {
  const value = parseOrThrow(text);
  if (isDeeper(value, maxJsonDepth)) {
    throw new ClientError('BAD_REQUEST', `The JSON is nested deeper than ${maxJsonDepth}.`);
  }
  return value;
}

function parseOrThrow(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The JSON does not parse.');
  }
}

/** JSON.parse itself has no limit of depth. */
function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], depth - 1)) return true;
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
