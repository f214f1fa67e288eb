import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Answer } from '../../engine/answer.ts';
import { graphqlResponse } from './negotiation.ts';

const lingerMs = 1_000;

/** Answers on a socket on which no request came to be, and ends it; `isQuiet`: its client sends nothing before it has read that. */
export function writeRefusal(
  socket: Duplex,
  { status, body }: Answer,
  { headers, isQuiet }: { headers: Record<string, string>; isQuiet: boolean },
): void {
  const content = JSON.stringify(body);
  const fields = Object.entries({
    'content-type': `${graphqlResponse}; charset=utf-8`,
    'content-length': String(Buffer.byteLength(content)),
    'cache-control': 'private, no-store',
    'x-content-type-options': 'nosniff',
    connection: 'close',
    ...headers,
  });
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.on('error', () => {});
  const text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines}\r\n${content}`;
  // Closed at once, the answer could be lost to a client that is still sending.
  socket.end(text, isQuiet ? () => socket.destroy() : undefined);
  linger(socket);
  if (!isQuiet) socket.resume();
}

/** A socket that was told all it is told has a moment left: its client may never read what stands before that. */
export function linger(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  socket.once('close', () => clearTimeout(timer));
}
