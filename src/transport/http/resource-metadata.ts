import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';
import { scopes } from '../../identity/viewer.ts';
import { jsonType } from './negotiation.ts';

/* OAuth 2.0 Protected Resource Metadata: RFC 9728 */

type AddressConfig = Pick<Config, 'oauth' | 'publicUrl'>;

const wellKnown = '/.well-known/oauth-protected-resource';
/** The paths of resources by the paths of their metadata: the server as a whole, and the GraphQL endpoint. */
export const resourcePaths: ReadonlyMap<string, string> = new Map([
  [wellKnown, ''],
  [`${wellKnown}/graphql`, '/graphql'],
]);

/** The URL that a challenge names, whose metadata lists the issuers of valid tokens; undefined without an issuer. */
export function metadataUrlOf({ oauth, publicUrl }: AddressConfig, request: IncomingMessage): string | undefined {
  return oauth && `${baseOf(publicUrl, request)}${wellKnown}/graphql`;
}

export function writeResourceMetadata(
  { publicUrl }: AddressConfig,
  { issuer }: { issuer: string },
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  path: string,
): void {
  const content = JSON.stringify({
    resource: `${baseOf(publicUrl, request)}${path}`,
    authorization_servers: [issuer],
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
