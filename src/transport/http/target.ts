import type { IncomingMessage } from 'node:http';
import type { Config } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';

/** The target of a request line. */
interface Target {
  path: string;
  /** The host with an optional port, from the URI or else from `Host`. Undefined only in HTTP/1.0. */
  authority: string | undefined;
  /** Still encoded; undefined without a question mark. */
  query: string | undefined;
}

const maxLength = 8_192;
const authority = /^(\[[\da-f:.]+\]|[\w.~!$&'()*+,;=%-]+)(:\d{0,5})?$/i;
const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/i;
export const loopbackAddress = /^(127(\.\d{1,3}){3}|::1|::ffff:127(\.\d{1,3}){3})$/i;
const localhost = /^([\w-]+\.)*localhost$/;

/**
 * The host names that are valid for a server that listens on a loopback address. A page of another site can point its
 * own name at 127.0.0.1 (DNS rebinding). For the browser the page and the server then have the same origin, and the
 * page can read every answer; but its requests have the name of the page in `Host`. With a `PUBLIC_URL`, or on an
 * address that other machines can reach, nothing is checked: a proxy or the DNS then decides which names lead to the
 * server.
 */
export class AllowedHosts {
  readonly #config: Pick<Config, 'host' | 'publicUrl'>;
  #isChecked = false;
  /** The latest valid authority, cached because most requests have the same one. */
  #latest: string | undefined;

  constructor(config: Pick<Config, 'host' | 'publicUrl'>) {
    this.#config = config;
  }

  /** `address`: the address on which the server listens. */
  listenOn(address: string): void {
    this.#isChecked = this.#config.publicUrl === undefined && loopbackAddress.test(address);
  }

  /** @throws ClientError BAD_REQUEST, URI_TOO_LONG, or MISDIRECTED_REQUEST for a name that is not one of this server. */
  readTarget(request: IncomingMessage): Omit<Target, 'authority'> {
    const target = parseTarget(request);
    this.#assertOwn(target.authority);
    return target;
  }

  /** Undefined: the client is not a browser. */
  #assertOwn(authority: string | undefined): void {
    if (!this.#isChecked || authority === undefined || authority === this.#latest) return;
    const host = hostOf(authority);
    if (!localhost.test(host) && !loopbackAddress.test(host) && host !== this.#config.host.toLowerCase()) {
      throw new ClientError(
        'MISDIRECTED_REQUEST',
        `${JSON.stringify(authority.slice(0, 100))} is not a name of this server: use localhost, or set PUBLIC_URL.`,
      );
    }
    this.#latest = authority;
  }
}

/** The host in lower case, without the port, the brackets of an IPv6 address and a final dot. */
function hostOf(authority: string): string {
  return authority
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

/** Reads and validates the request line and `Host` (RFC 9112, 3.2). */
function parseTarget(request: IncomingMessage): Target {
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
