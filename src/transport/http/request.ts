import type { ReadRequest } from '../../engine/engine.ts';
import type { GraphQLRequest } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import { type BodyReservation, maxShortBody } from '../admission/body-budget.ts';
import { toGraphQLRequest } from '../graphql-request.ts';
import { parseJson } from '../json.ts';
import type { Exchange } from './exchange.ts';
import { isUtf8 } from './negotiation.ts';
import { HttpRefusal } from './refusal.ts';

/** Chunks of a body are joined in groups of this size: each chunk takes about 300 bytes in addition to its content. */
const joinedPieces = 64;
/** A body may arrive in this number of pieces, and in one more for each `bytesPerPiece`. */
const maxPieces = 1_024;
/** Shorter than a packet of any network. */
const bytesPerPiece = 512;
const tooManyPieces = `The body has more than ${maxPieces} chunks that are very short.`;
const commonContentTypes = ['application/json', 'application/json; charset=utf-8'];

/**
 * Receives the body of a POST, and returns the function that parses it, which throws ClientError BAD_REQUEST or
 * INVALID_REQUEST. `admitLongBody` is called before a body is received that is or may be long.
 * @throws ClientError UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE, SERVICE_UNAVAILABLE or BAD_REQUEST; any error of
 * `admitLongBody`.
 */
export async function receivePostRequest(
  exchange: Exchange,
  admitLongBody: (exchange: Exchange) => Promise<void>,
): Promise<ReadRequest> {
  const { request, response, parts } = exchange;
  const { headers } = request;
  const maxBytes = parts.config.limits.bodyBytes;
  if (!commonContentTypes.includes(headers['content-type'] ?? '')) assertJson(headers['content-type']);
  assertPlain(headers['content-encoding']);
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  const reservation = parts.bodies.open(exchange.address);
  if (!reservation.fits(length)) throw new ClientError('SERVICE_UNAVAILABLE');
  if (length > maxShortBody || headers['transfer-encoding'] !== undefined) await admitLongBody(exchange);
  if (exchange.cancellation.isCancelled) throw incomplete();
  // A client with `Expect: 100-continue` waits for this before it sends the body.
  if (headers.expect !== undefined) response.writeContinue();
  const body = await readBody(exchange, reservation, maxBytes);
  return () => toGraphQLRequest(parseJson(decodeUtf8(body)));
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

function assertJson(contentType = ''): void {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (type === 'application/json' && isUtf8(parameters)) return;
  throw new HttpRefusal('UNSUPPORTED_MEDIA_TYPE', 'Content-Type must be application/json in UTF-8.', {
    accept: 'application/json; charset=utf-8',
  });
}

function assertPlain(contentEncoding: string | undefined): void {
  if (contentEncoding === undefined || contentEncoding.toLowerCase() === 'identity') return;
  throw new HttpRefusal('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding must be absent or "identity".', {
    'accept-encoding': 'identity',
  });
}

/**
 * Checks the limits while the body arrives, and closes the reservation. Bytes after the limit are never kept, and are
 * read only as far as the answer requires.
 */
function readBody(
  { request, response, parts }: Exchange,
  reservation: BodyReservation,
  maxBytes: number,
): Promise<Buffer> {
  let chunks: Buffer[] = [];
  let joined = 0;
  let length = 0;
  let pieces = 0;
  let isRefused = false;
  return new Promise((resolve, reject) => {
    const refuse = (error: ClientError) => {
      isRefused = true;
      chunks = [];
      reservation.close();
      reject(error);
    };
    request.on('data', (chunk: Buffer) => {
      if (isRefused) return;
      parts.connections.count(request.socket);
      length += chunk.length;
      pieces += 1;
      if (pieces > maxPieces + length / bytesPerPiece)
        return refuse(new ClientError('PAYLOAD_TOO_LARGE', tooManyPieces));
      if (length > maxBytes) return refuse(tooLarge(maxBytes));
      if (!reservation.tryReserve(length)) return refuse(new ClientError('SERVICE_UNAVAILABLE'));
      chunks.push(chunk);
      if (chunks.length - joined === joinedPieces) {
        chunks.push(Buffer.concat(chunks.splice(joined)));
        joined += 1;
      }
    });
    request.once('end', () => {
      reservation.close();
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
      // A keep-alive connection keeps a reference to its latest request.
      chunks = [];
    });
    const abort = () => {
      if (!request.complete) refuse(incomplete());
    };
    request.once('error', abort);
    response.once('close', abort);
  });
}

function incomplete(): ClientError {
  return new ClientError('BAD_REQUEST', 'The body did not arrive whole.');
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
