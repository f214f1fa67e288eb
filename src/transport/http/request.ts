import { isUtf8 as areUtf8 } from 'node:buffer';
import { containOne } from '../../common/contain.ts';
import type { GraphQLRequest } from '../../engine/operation.ts';
import { ClientError } from '../../errors.ts';
import { maxShortBody } from '../admission/memory-budgets.ts';
import { parseClientJson, toGraphQLRequest } from '../client-json.ts';
import type { Exchange, Serve } from './exchange.ts';
import { isUtf8 } from './negotiation.ts';
import { HttpRefusal } from './refusal.ts';

const commonContentTypes = ['application/json', 'application/json; charset=utf-8'];

/** Chunks of a body are joined in groups of this size: each chunk takes about 300 bytes in addition to its content. */
const joinedPieces = 64;
/** A body may arrive in this number of pieces, and in one more for each `bytesPerPiece`. */
const maxPieces = 1_024;
/** Shorter than a packet of any network. */
const bytesPerPiece = 512;
const tooManyPieces = `The body has more than ${maxPieces} chunks that are very short.`;

/** Receives the body of a POST, and then calls `onWhole`. A body that is refused fails the exchange. */
export function receiveBody(exchange: Exchange, onWhole: Serve): void {
  if (exchange.cancellation.isCancelled) throw incomplete();
  // A client with `Expect: 100-continue` waits for this before it sends the body.
  if (exchange.request.headers.expect !== undefined) exchange.response.writeContinue();
  exchange.body = new IncomingBody(exchange, onWhole);
}

/** A body while it arrives. Bytes after a limit are never kept, and are read only as far as the answer requires. */
class IncomingBody {
  readonly #exchange: Exchange;
  readonly #onWhole: Serve;
  #chunks: Buffer[] = [];
  #joined = 0;
  #length = 0;
  #pieces = 0;
  /** The bytes that are counted in the budget of all bodies. */
  #reserved = 0;
  #isRefused = false;

  constructor(exchange: Exchange, onWhole: Serve) {
    this.#exchange = exchange;
    this.#onWhole = onWhole;
    exchange.request.on('data', (chunk) => this.#add(chunk));
    exchange.request.on('end', () => this.#end());
    exchange.request.on('error', () => this.abort());
  }

  /** Returns the whole body, and drops it: the response to a subscription may last for days. Call it once. */
  take(): Buffer {
    const chunks = this.#chunks;
    this.#chunks = [];
    return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
  }

  /** The request has failed, or its response is closed. */
  abort(): void {
    if (!this.#exchange.request.complete) this.#refuse(incomplete());
  }

  #add(chunk: Buffer): void {
    if (this.#isRefused) return;
    this.#exchange.parts.connections.count(this.#exchange.request.socket);
    this.#length += chunk.length;
    this.#pieces += 1;
    const excess = this.#reserve();
    if (excess) return this.#refuse(excess);
    this.#chunks.push(chunk);
    if (this.#chunks.length - this.#joined < joinedPieces) return;
    this.#chunks.push(Buffer.concat(this.#chunks.splice(this.#joined)));
    this.#joined += 1;
  }

  #end(): void {
    this.#release();
    if (!this.#isRefused) containOne(this.#exchange, this.#onWhole, undefined);
  }

  #reserve(): ClientError | undefined {
    const { address, parts } = this.#exchange;
    const { bodyBytes } = parts.config.limits;
    if (this.#pieces > maxPieces + this.#length / bytesPerPiece)
      return new ClientError('PAYLOAD_TOO_LARGE', tooManyPieces);
    if (this.#length > bodyBytes) return tooLarge(bodyBytes);
    const missing = this.#length - maxShortBody - this.#reserved;
    if (missing <= 0) return undefined;
    if (!parts.bodies.fits(address, missing)) return new ClientError('SERVICE_UNAVAILABLE');
    parts.bodies.add(address, missing);
    this.#reserved += missing;
    return undefined;
  }

  #refuse(error: ClientError): void {
    if (this.#isRefused) return;
    this.#isRefused = true;
    this.#chunks = [];
    this.#release();
    this.#exchange.fail(error);
  }

  #release(): void {
    if (this.#reserved > 0) this.#exchange.parts.bodies.add(this.#exchange.address, -this.#reserved);
    this.#reserved = 0;
  }
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

function decodeUtf8(bytes: Buffer): string {
  const text = bytes.toString();
  // U+FFFD replaces malformed bytes, unless the client itself has sent it.
  if (text.includes('\ufffd') && !areUtf8(bytes)) throw new ClientError('BAD_REQUEST', 'The body is not UTF-8.');
  return text;
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

function incomplete(): ClientError {
  return new ClientError('BAD_REQUEST', 'The body did not arrive whole.');
}

function tooLarge(maxBytes: number): ClientError {
  return new ClientError('PAYLOAD_TOO_LARGE', `The body is longer than ${maxBytes} bytes.`);
}
