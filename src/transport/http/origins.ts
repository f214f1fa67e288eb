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

export type Origins = ReturnType<typeof createOrigins>;

/** The origins whose pages may call: the server's own and the configured ones, compared exactly. */
export function createOrigins({ host, publicUrl, allowedOrigins }: Config, log: Log) {
  const allowed = new Set(allowedOrigins);
  if (publicUrl !== undefined) allowed.add(new URL(publicUrl).origin);
  /** Browsers hide the reason of a refusal from the page, so the log has to name it. */
  const isDue = createReportLimit({ intervalMs: 60_000, maxReasons: 100 });
  return {
    /** Without a public URL the server's own origins are those of this machine, with the port on which it listens. */
    listenOn(port: number) {
      if (publicUrl !== undefined) return;
      const own = wildcardHosts.includes(host) ? [] : [host];
      for (const name of ['localhost', '127.0.0.1', '::1', ...own]) {
        allowed.add(new URL(`http://${name.includes(':') ? `[${name}]` : name}:${port}`).origin);
      }
    },
    /** A request without an Origin is allowed: it is not from a page. @throws ClientError FORBIDDEN for any other origin. */
    assertAllowed({ headers: { origin } }: IncomingMessage) {
      if (origin === undefined || allowed.has(origin)) return;
      const logged = origin.slice(0, maxLoggedLength);
      if (isDue(logged)) log.warn({ origin: logged }, refusedOrigin);
      throw new ClientError('FORBIDDEN', 'Pages of this origin are not allowed: see ALLOWED_ORIGINS and PUBLIC_URL.');
    },
  };
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
