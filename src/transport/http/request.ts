import type { IncomingMessage } from 'node:http';
import type { GraphQLRequest } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import type { BodyReservation } from '../admission/body-budget.ts';
import { isUtf8 } from './negotiation.ts';
import { HttpRefusal } from './refusal.ts';

const maxJsonDepth = 64;
/** Pieces of a body are joined by so many: each takes some 300 bytes beside its own. */
const joinedPieces = 64;
const commonContentTypes = ['application/json', 'application/json; charset=utf-8'];

interface BodyLimits {
  maxBytes: number;
  /** Closed by the caller where the body never comes whole. */
  room: BodyReservation;
}

export interface PostOptions extends BodyLimits {
  /** Called once all is well but the body, which a client may be waiting to send. */
  proceed: () => void;
}

/** What a body comes to. @throws ClientError PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE, BAD_REQUEST or INVALID_REQUEST. */
export type ReadBody = () => GraphQLRequest;

/**
 * Calls `take` once the body of a POST is there, or cannot be had; it is limited while it is read.
 * @throws ClientError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or SERVICE_UNAVAILABLE before that.
 */
export function readPostRequest(
  request: IncomingMessage,
  { maxBytes, room, proceed }: PostOptions,
  take: (read: ReadBody) => void,
): void {
  const { headers } = request;
  if (!commonContentTypes.includes(headers['content-type'] ?? '')) assertJson(headers['content-type']);
  assertPlain(headers['content-encoding']);
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (!room.mayHold(length)) throw new ClientError('SERVICE_UNAVAILABLE');
  proceed();
  readBody(request, { maxBytes, room }, (read) => take(() => toGraphQLRequest(parseJson(decodeUtf8(read())))));
}

/** The GraphQL request of a GET; an empty parameter is an absent one. @throws ClientError BAD_REQUEST or INVALID_REQUEST. */
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

/** Whether the query of a URL says what to run. */
export function namesDocument(query = ''): boolean {
  const parameters = new URLSearchParams(query);
  return ['query', 'documentId', 'extensions'].some((name) => parameters.has(name));
}

/** @throws ClientError INVALID_REQUEST where it is not a request object; other keys are ignored, null is absent. */
export function toGraphQLRequest(value: unknown): GraphQLRequest {
  if (!isObject(value)) throw new ClientError('INVALID_REQUEST', 'A GraphQL request is a JSON object.');
  const extensions = readObject(value, 'extensions');
  const documentId = readString(value, 'documentId');
  const documentHash = readDocumentHash(extensions?.['persistedQuery']);
  const query = readString(value, 'query');
  const isNamed = documentId !== undefined || documentHash !== undefined;
  if (query === undefined && !isNamed) throw new ClientError('INVALID_REQUEST', '"query" must be a string.');
  return {
    // Clients that must send a text send an empty one beside a name.
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

/** The SHA-256 of a document, in hex, as Apollo's clients name it. */
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

/** Bytes behind the bound are read no more than is needed to answer, and kept not at all. */
function readBody(request: IncomingMessage, { maxBytes, room }: BodyLimits, take: (read: () => Buffer) => void): void {
  const { 'content-length': announced } = request.headers;
  const expected = announced === undefined ? Number.POSITIVE_INFINITY : Number(announced);
  const chunks: Buffer[] = [];
  let joined = 0;
  let length = 0;
  let isOver = false;
  const end = (read: () => Buffer) => {
    if (isOver) return;
    isOver = true;
    room.close();
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
    if (!room.hasRoomFor(length)) return refuse(new ClientError('SERVICE_UNAVAILABLE'));
    chunks.push(chunk);
    if (chunks.length - joined === joinedPieces) {
      chunks.push(Buffer.concat(chunks.splice(joined)));
      joined += 1;
    }
    if (length < expected) room.wait();
  });
  request.on('end', () => {
    const body = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
    // A connection that is kept holds its latest request.
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
  // It stands for what is malformed, where it was not sent.
  if (!text.includes('\ufffd')) return text;
  try {
    return utf8.decode(bytes);
  } catch {
    throw new ClientError('BAD_REQUEST', 'The body is not UTF-8.');
  }
}

/** What URLSearchParams would put right in silence. */
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

/** JSON.parse itself goes as deep as it is led. */
function isDeeper(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (depth === 0) return true;
  for (const key in value) if (isDeeper((value as Record<string, unknown>)[key], depth - 1)) return true;
  return false;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
