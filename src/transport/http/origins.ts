import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../config/config.ts';
import { ClientError } from '../../errors.ts';
import type { Log } from '../../log/log.ts';
import { createReportLimit } from '../../log/recent-reports.ts';

/* CORS: https://fetch.spec.whatwg.org/#http-cors-protocol */

const wildcardHosts = ['0.0.0.0', '::', ''];
const exposedHeaders = 'ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';
const preflightHeaders = new Map([
  ['access-control-allow-methods', 'GET, POST'],
  // The wildcard does not cover Authorization.
  ['access-control-allow-headers', '*, authorization'],
  ['access-control-max-age', '600'],
]);
const maxLoggedLength = 200;
const refusedOrigin = 'a page of this origin was refused: if it is yours, add the origin to ALLOWED_ORIGINS';

/** The origins whose pages may call: the server's own and the configured ones, compared exactly. */
export class Origins {
  readonly #config: Pick<Config, 'host' | 'publicUrl' | 'allowedOrigins'>;
  readonly #allowed: Set<string>;
  readonly #log: Log;
  /** Browsers hide the reason of a refusal from the page, so the log has to name it. */
  readonly #isDue = createReportLimit({ intervalMs: 60_000, maxReasons: 100 });

  constructor(config: Pick<Config, 'host' | 'publicUrl' | 'allowedOrigins'>, log: Log) {
    this.#config = config;
    this.#log = log;
    this.#allowed = new Set(config.allowedOrigins);
    if (config.publicUrl !== undefined) this.#allowed.add(new URL(config.publicUrl).origin);
  }

  /** Without a public URL the server's own origins are those of this machine, with the port on which it listens. */
  listenOn(port: number): void {
    if (this.#config.publicUrl !== undefined) return;
    const { host } = this.#config;
    const own = wildcardHosts.includes(host) ? [] : [host];
    for (const name of ['localhost', '127.0.0.1', '::1', ...own]) {
      this.#allowed.add(new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`).origin);
    }
  }

  /**
   * A request without an Origin is allowed: it is not from a page. @throws ClientError FORBIDDEN for any other origin.
   */
  assertAllowed({ headers: { origin } }: IncomingMessage): void {
    if (origin === undefined || this.#allowed.has(origin)) return;
    const logged = origin.slice(0, maxLoggedLength);
    if (this.#isDue(logged)) this.#log.warn({ origin: logged }, refusedOrigin);
    throw new ClientError('FORBIDDEN', 'Pages of this origin are not allowed: see ALLOWED_ORIGINS and PUBLIC_URL.');
  }
}

/**
 * A page of another site can make a browser fetch any URL without an Origin. A custom header requires a preflight,
 * which succeeds for allowed origins only.
 * @throws ClientError FORBIDDEN.
 */
export function assertNotCrossSite({ headers }: IncomingMessage): void {
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return;
  if (headers.origin !== undefined || headers['graphql-require-preflight'] !== undefined) return;
  throw new ClientError('FORBIDDEN', 'A cross-site GET needs the header GraphQL-Require-Preflight.');
}

/**
 * The CORS headers for an allowed origin. They never allow credentials: the server uses no cookies. Pages of other
 * origins receive none.
 */
export function setCorsHeaders({ method, headers }: IncomingMessage, response: ServerResponse): void {
  const { origin } = headers;
  if (origin === undefined) return;
  response.setHeader('access-control-allow-origin', origin);
  response.setHeader('access-control-expose-headers', exposedHeaders);
  response.setHeader('vary', 'origin');
  const isPreflight = method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
  if (isPreflight) response.setHeaders(preflightHeaders);
}
