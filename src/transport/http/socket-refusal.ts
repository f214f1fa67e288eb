import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { createRequestId } from '../../common/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import { graphqlResponseType } from './negotiation.ts';
import { HttpRefusal, retryAfter503 } from './refusal.ts';

const lingerMs = 1_000;

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
