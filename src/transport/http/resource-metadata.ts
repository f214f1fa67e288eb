import type { IncomingMessage } from 'node:http';
import { scopes } from '../../identity/viewer.ts';
import type { Exchange } from './exchange.ts';
import { jsonType } from './negotiation.ts';

/* OAuth 2.0 Protected Resource Metadata: RFC 9728 */

const wellKnown = '/.well-known/oauth-protected-resource';
/** The paths of resources by the paths of their metadata: the server as a whole, and the GraphQL endpoint. */
export const resourcePaths: ReadonlyMap<string, string> = new Map([
  [wellKnown, ''],
  [`${wellKnown}/graphql`, '/graphql'],
]);

/** The URL that a challenge names, whose metadata lists the issuers of valid tokens; undefined without an issuer. */
export function metadataUrlOf({ request, parts: { config } }: Exchange): string | undefined {
  const { oauth, publicUrl } = config;
  return oauth && `${baseOf(publicUrl, request)}${wellKnown}/graphql`;
}

export function writeResourceMetadata({ request, response, parts }: Exchange, path: string): void {
  const { publicUrl, oauth } = parts.config;
  const content = JSON.stringify({
    resource: `${baseOf(publicUrl, request)}${path}`,
    authorization_servers: [oauth?.issuer],
    scopes_supported: scopes.map((scope) => scope.toLowerCase()),
    bearer_methods_supported: ['header'],
    resource_name: 'Postroom',
  });
  response.writeHead(200, {
    'content-type': jsonType,
    'content-length': Buffer.byteLength(content),
    'cache-control': 'no-store',
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
  });
  response.end(content);
}

/** The public URL, or, if none is configured, the host that the client used. */
function baseOf(publicUrl: string | undefined, { headers: { host = 'localhost' } }: IncomingMessage): string {
  return publicUrl?.replace(/\/$/, '') ?? `http://${host}`;
}
