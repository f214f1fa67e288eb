import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { createRequestId } from '../../common/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import { ClientError, type ErrorCode } from '../../errors.ts';
import { flushAnswers } from '../batched-writes.ts';
import type { Exchange } from './exchange.ts';
import { graphqlResponseType } from './negotiation.ts';

/** The time for which a refused request is still read, so that its client gets the answer. */
export const lingerMs = 1_000;

/** An error that is answered with additional header fields. */
export class HttpRefusal extends ClientError {
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, message: string | undefined, headers: Record<string, string>) {
    super(code, message);
    this.headers = headers;
  }
}

/** The `Retry-After` of every answer with the status 503, in seconds. */
export const retryAfter503 = '1';

export const graphqlMethods = ['GET', 'HEAD', 'POST', 'OPTIONS'] as const;

export function methodNotAllowed(...allowed: readonly string[]): HttpRefusal {
  const allow = allowed.join(', ');
  return new HttpRefusal('METHOD_NOT_ALLOWED', `Use ${allow}.`, { allow });
}

/**
 * Writes an error to a socket that has no `ServerResponse`, and ends it. `isQuiet`: the client sends nothing
 * before it has read the answer.
 */
export function refuseSocket(engine: Pick<Engine, 'refuse'>, socket: Duplex, error: unknown, isQuiet = false): void {
  const requestId = createRequestId();
  const { status, body } = engine.refuse(error, { requestId });
  const content = JSON.stringify(body);
  const fields = Object.entries({
    'content-type': `${graphqlResponseType}; charset=utf-8`,
    'content-length': String(Buffer.byteLength(content)),
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    'x-request-id': requestId,
    ...(status === 503 && { 'retry-after': retryAfter503 }),
    ...(error instanceof HttpRefusal && error.headers),
  });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.on('error', () => {});
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${content}`;
  // If the socket were closed immediately, a client that is still sending could lose the answer.
  socket.end(text, isQuiet ? () => socket.destroy() : undefined);
  linger(socket);
  if (!isQuiet) socket.resume();
}

/** Destroys a socket after `lingerMs`: its client may never read what has been written. */
export function linger(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}

const refused = new WeakSet<Duplex>();

/** Answers bytes that the parser rejects. A pending answer is sent first. */
export function answerParseError(
  engine: Pick<Engine, 'refuse'>,
  error: Error & { code?: string; rawPacket?: Buffer },
  socket: Duplex,
  last: Exchange | undefined,
): void {
  // The parser reports the error again for each later packet.
  if (refused.has(socket)) return;
  refused.add(socket);
  flushAnswers();
  const fault = explain(error);
  if (!fault || !socket.writable) return void socket.destroy();
  if (!last || last.response.writableFinished) return refuseSocket(engine, socket, fault);
  // An answer that is complete may wait for those before it.
  if (last.response.writableEnded) return void last.response.once('finish', () => linger(socket.end()));
  if (last.response.headersSent) return void socket.destroy();
  last.response.setHeader('connection', 'close');
  if (!last.request.complete) last.fail(fault);
}

const codes: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: 'HEADERS_TOO_LARGE',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 'PAYLOAD_TOO_LARGE',
  ERR_HTTP_REQUEST_TIMEOUT: 'REQUEST_TIMEOUT',
};

/** The error for the client; undefined if the socket itself has failed. */
function explain({ code = '', rawPacket }: { code?: string; rawPacket?: Buffer }): ClientError | undefined {
  const line = rawPacket?.toString('latin1', 0, 10_000) ?? '';
  if (code === 'HPE_HEADER_OVERFLOW' && /^[A-Z]+ \S{8192}/.test(line)) return new ClientError('URI_TOO_LONG');
  if (code === 'HPE_INVALID_METHOD' && /^[A-Z]+ /.test(line)) return methodNotAllowed(...graphqlMethods);
  const clientCode = codes[code];
  if (clientCode) return new ClientError(clientCode);
  return code.startsWith('HPE_') ? new ClientError('BAD_REQUEST') : undefined;
}
