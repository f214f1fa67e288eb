import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { contain } from '../../common/contain.ts';
import { type Answer, jsonOf } from '../../engine/answer.ts';
import type { CachePolicy } from '../../engine/documents/selected-fields.ts';
import type { Rate } from '../../engine/limits/rate.ts';
import { maxShortAnswer } from '../admission/memory-budgets.ts';
import { type PendingWrite, sendAnswerAtTurnEnd } from '../batched-writes.ts';
import type { Exchange } from './exchange.ts';
import { type Accepted, graphqlResponseType, jsonType } from './negotiation.ts';
import { lingerMs, retryAfter503 } from './refusal.ts';
import { metadataUrlOf } from './resource-metadata.ts';

export interface AnswerTraits {
  accepted?: Accepted;
  /** Absent if the answer must not be cached by shared caches. */
  cachePolicy?: CachePolicy | undefined;
  /** Of a long content that may be cached. */
  digest?: string | undefined;
  /** Additional header fields of an error. */
  headers?: Record<string, string> | undefined;
}

/** The maximum number of bytes of an unneeded body that are read in order to keep the connection. */
const maxDrainedBytes = 1_000_000;
const maxDrainedPieces = 1_024;
/** The same maximum for an answer with status 503. */
const maxUnwantedBytes = 16_384;

/**
 * Writes an answer together with the other answers of the turn. A success is `application/json` for a client that
 * prefers it; an error with a status of 400 or more is always `application/graphql-response+json`.
 */
export function writeAnswer(
  exchange: Exchange,
  answer: Answer,
  { accepted, cachePolicy, digest, headers }: AnswerTraits = {},
): void {
  const { request, response } = exchange;
  const { status, rate } = answer;
  const type = status < 300 && accepted?.result === jsonType ? jsonType : graphqlResponseType;
  const content = jsonOf(answer);
  // Alternating names and values, which Node writes as they are.
  const all = ['x-content-type-options', 'nosniff', 'x-request-id', exchange.requestId];
  const refusal: Record<string, string> = status < 400 ? {} : errorHeaders(exchange, answer);
  if (rate && Number(refusal['retry-after'] ?? Number.POSITIVE_INFINITY) * 1_000 >= rate.resetMs) pushRate(all, rate);
  if (cachePolicy) {
    const entityTag = createEntityTag(type, digest ?? content);
    pushCaching(all, cachePolicy, entityTag);
    if (namesEntityTag(request.headers['if-none-match'], entityTag)) return void response.writeHead(304, all).end();
  } else all.push('cache-control', 'private, no-store');
  if (status >= 400) all.push(...Object.entries({ ...refusal, ...headers }).flat());
  all.push('content-type', `${type}; charset=utf-8`, 'content-length', String(Buffer.byteLength(content)));
  if (!request.complete && mayBeLong(request, status)) return writeAndLinger(exchange, status, all, content);
  response.writeHead(status, all);
  sendAnswerAtTurnEnd(new Content(exchange, content));
}

/**
 * The content of an answer. It counts as unsent while the client does not read it; a long one counts from the start.
 */
export class Content implements PendingWrite {
  readonly #content: string | Buffer;
  readonly #exchange: Exchange;
  #release: (() => void) | undefined;

  constructor(exchange: Exchange, content: string | Buffer) {
    this.#content = content;
    this.#exchange = exchange;
    if (Buffer.byteLength(content) > maxShortAnswer) this.#reserve();
  }

  flush(): void {
    const { response } = this.#exchange;
    response.end(this.#content);
    const isWaiting = response.writableLength > 0;
    if (isWaiting && !this.#release) this.#reserve();
    if (!this.#release) return;
    if (isWaiting) response.once('finish', this.#release);
    else this.#release();
  }

  fail(error: unknown): void {
    this.#exchange.fail(error);
  }

  #reserve(): void {
    const { parts, request, address } = this.#exchange;
    this.#release = parts.answerBudget.reserveBytes(request.socket, address, Buffer.byteLength(this.#content));
  }
}

/**
 * If the connection of a client that is still sending were closed immediately, the client could see a reset and lose
 * the answer. The answer is therefore sent in full, and the server discards what it receives for `lingerMs`.
 */
function writeAndLinger(exchange: Exchange, status: number, headers: string[], content: string | Buffer): void {
  const { request, response, parts, address } = exchange;
  response.writeHead(status, headers.includes('connection') ? headers : [...headers, 'connection', 'close']);
  response.once('finish', parts.answerBudget.reserveBytes(request.socket, address, Buffer.byteLength(content)));
  response.write(content);
  const end = () => response.end();
  const timer = setTimeout(contain(end, exchange.fail), lingerMs);
  request.once('end', end);
  response.once('close', () => clearTimeout(timer));
  if (status === 503) return stopReading(exchange);
  let pieces = 0;
  request.on('data', () => {
    parts.connections.count(request.socket);
    pieces += 1;
    if (pieces === maxDrainedPieces) stopReading(exchange);
  });
}

/**
 * Leaves unread bytes in the network. `_read` is replaced because it would resume the socket after each chunk. The chunks
 * of the packet that is being parsed are dropped, because each would take 4 µs.
 */
function stopReading({ request, parts }: Exchange): void {
  request._read = () => {};
  (request as IncomingMessage & { _dump?: () => void })._dump?.();
  parts.connections.stopReading(request.socket);
}

/** Whether the body may be longer than the maximum that is read for this status. */
function mayBeLong({ headers }: IncomingMessage, status: number): boolean {
  const most = status === 503 ? maxUnwantedBytes : maxDrainedBytes;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > most;
}

function pushCaching(headers: string[], { maxAge }: CachePolicy, entityTag: string): void {
  headers.push('cache-control', `public, max-age=${maxAge}`, 'etag', entityTag);
  // Also for requests without an Origin: a cached answer for one page must not be used for a page of another origin.
  headers.push('vary', 'accept, authorization, origin');
}

/** A strong entity tag: it differs for different bytes and media types. `content` is the content or its digest. */
function createEntityTag(mediaType: string, content: string | Buffer): string {
  const digest = hash('sha256', `${mediaType}\n${content}`, 'base64url');
  return `"${digest.slice(0, 27)}"`;
}

/** Whether an `If-None-Match` header names the tag; the comparison is weak (RFC 9110, 13.1.2). */
export function namesEntityTag(ifNoneMatch: string | undefined, entityTag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const tags = ifNoneMatch.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.includes('*') || tags.includes(entityTag.replace(/^W\//, ''));
}

/** draft-ietf-httpapi-ratelimit-headers-11. A client may take `RateLimit` for the time to wait, so an earlier `Retry-After` excludes it. */
function pushRate(headers: string[], { limit, windowSeconds, remaining, resetMs }: Rate): void {
  const policy = `"default";q=${limit};w=${windowSeconds}`;
  headers.push('ratelimit-policy', policy, 'ratelimit', `"default";r=${remaining};t=${Math.ceil(resetMs / 1_000)}`);
}

function errorHeaders(exchange: Exchange, { status, body }: Answer): Record<string, string> {
  // RFC 6750, 3.1: no error code where no credentials were sent.
  const fault = exchange.request.headers.authorization ? ', error="invalid_token"' : '';
  if (status === 401) return { 'www-authenticate': challengeOf(exchange) + fault };
  const scope = body.errors?.[0]?.extensions?.['scope'];
  if (status === 403 && typeof scope === 'string') {
    const lack = `error="insufficient_scope", scope="${scope.toLowerCase()}"`;
    return { 'www-authenticate': `${challengeOf(exchange)}, ${lack}` };
  }
  if (status === 503) return { 'retry-after': retryAfter503 };
  // Any limit may set it.
  const retryAfterMs = body.errors?.[0]?.extensions?.['retryAfterMs'];
  if (typeof retryAfterMs === 'number') return { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) };
  return {};
}

function challengeOf(exchange: Exchange): string {
  const metadata = metadataUrlOf(exchange);
  return `Bearer realm="postroom"${metadata ? `, resource_metadata="${metadata}"` : ''}`;
}
