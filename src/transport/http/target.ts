import type { IncomingMessage } from 'node:http';
import { ClientError } from '../../errors.ts';

/** The target of a request line. */
export interface Target {
  path: string;
  /** The host with an optional port, from the URI or else from `Host`. Undefined only in HTTP/1.0. */
  authority: string | undefined;
  /** Still encoded; undefined without a question mark. */
  query: string | undefined;
}

const maxLength = 8_192;
const authority = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{0,5})?$/i;
const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;

/** Reads and validates the request line and `Host` (RFC 9112, 3.2). @throws ClientError BAD_REQUEST or URI_TOO_LONG. */
export function readTarget(request: IncomingMessage): Target {
  const url = request.url ?? '';
  if (request.httpVersionMajor !== 1) throw new ClientError('BAD_REQUEST', 'This version of HTTP is not supported.');
  if (url.length > maxLength) throw new ClientError('URI_TOO_LONG', `The URI is longer than ${maxLength} bytes.`);
  assertHost(request);
  if (url.includes('#')) throw badTarget();
  const { host } = request.headers;
  if (url.startsWith('/')) return split(url, host);
  if (url === '*' && request.method === 'OPTIONS') return { path: '*', authority: host, query: undefined };
  const [, named = '', rest = ''] = absoluteForm.exec(url) ?? [];
  if (!authority.test(named)) throw badTarget();
  return split(rest.startsWith('/') ? rest : `/${rest}`, named);
}

function split(url: string, authority: string | undefined): Target {
  const mark = url.indexOf('?');
  if (mark < 0) return { path: url, authority, query: undefined };
  return { path: url.slice(0, mark), authority, query: url.slice(mark + 1) };
}

/** HTTP/1.1 requires exactly one `Host`: with several, a proxy may have used another one than this server. */
function assertHost({ headers: { host }, rawHeaders, httpVersion }: IncomingMessage): void {
  if (host === undefined && httpVersion === '1.0') return;
  if (host === undefined || !authority.test(host)) throw new ClientError('BAD_REQUEST', 'The Host is malformed.');
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') count += 1;
  }
  if (count > 1) throw new ClientError('BAD_REQUEST', 'There is more than one Host.');
}

function badTarget(): ClientError {
  return new ClientError('BAD_REQUEST', 'The request target is malformed.');
}
