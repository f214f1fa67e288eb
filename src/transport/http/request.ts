import type { GraphQLRequest } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import { maxShortBody } from '../admission/body-budget.ts';
import { toGraphQLRequest } from '../graphql-request.ts';
import { parseClientJson } from '../json.ts';
import type { Exchange, Serve } from './exchange.ts';
import { IncomingBody, incomplete, tooLarge } from './incoming-body.ts';
import { isUtf8 } from './negotiation.ts';
import { HttpRefusal } from './refusal.ts';

const commonContentTypes = ['application/json', 'application/json; charset=utf-8'];

/** Receives the body of a POST, and then calls `onWhole`. A body that is refused fails the exchange. */
export function receiveBody(exchange: Exchange, onWhole: Serve): void {
  if (exchange.cancellation.isCancelled) throw incomplete();
  // A client with `Expect: 100-continue` waits for this before it sends the body.
  if (exchange.request.headers.expect !== undefined) exchange.response.writeContinue();
  exchange.body = new IncomingBody(exchange, onWhole);
}

/** Whether the body is or may be long, as its headers say. @throws ClientError if they announce a body that is refused. */
export function mayBeLong({ request: { headers }, address, parts }: Exchange): boolean {
  const maxBytes = parts.config.limits.bodyBytes;
  if (!commonContentTypes.includes(headers['content-type'] ?? '')) assertJson(headers['content-type']);
  assertPlain(headers['content-encoding']);
  const length = Number(headers['content-length'] ?? 0);
  if (length > maxBytes) throw tooLarge(maxBytes);
  if (!parts.bodies.fits(address, length - maxShortBody)) throw new ClientError('SERVICE_UNAVAILABLE');
  return length > maxShortBody || headers['transfer-encoding'] !== undefined;
}

/** Call it once, when the body has arrived. @throws ClientError BAD_REQUEST or INVALID_REQUEST. */
export function readRequest({ body, query }: Exchange): GraphQLRequest {
  return body ? toGraphQLRequest(parseClientJson(decodeUtf8(body.take()))) : readGetRequest(query);
}

/** An empty parameter counts as absent. */
function readGetRequest(query = ''): GraphQLRequest {
  assertEncoded(query);
  const parameters = new URLSearchParams(query);
  const variables = parameters.get('variables');
  const extensions = parameters.get('extensions');
  return toGraphQLRequest({
    query: parameters.get('query') ?? undefined,
    documentId: parameters.get('documentId') || undefined,
    operationName: parameters.get('operationName') || undefined,
    variables: variables ? parseClientJson(variables) : undefined,
    extensions: extensions ? parseClientJson(extensions) : undefined,
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
