import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import Provider from 'oidc-provider';
import * as oauth from 'openid-client';

export const audience = 'urn:postroom';
const redirectUri = 'http://127.0.0.1:9/callback';
const keyId = 'issuer-key';
const client = { id: 'frontend', secret: 'frontend-secret-0123456789' };
export const introspector = { id: 'postroom', secret: 'introspector-secret-0123456789' };
const scopes = 'read write admin';
const introspectionPath = '/token/introspection';

interface IssuerOptions {
  /** The format of the access tokens: JWTs, or opaque strings that only the issuer can resolve. */
  format?: 'jwt' | 'opaque';
}

/** All issuers of a process have the same keys, because creating a pair takes as long as a test. */
const keys = generateKeyPair('RS256', { extractable: true });

/** Runs oidc-provider on loopback: a real issuer whose keys the test holds and that the test can disconnect. */
export async function openIssuer({ format = 'jwt' }: IssuerOptions = {}) {
  const { privateKey, publicKey } = await keys;
  const jwk = { ...(await exportJWK(privateKey)), kid: keyId, alg: 'RS256', use: 'sig' };
  const requests: string[] = [];
  const traceparents: unknown[] = [];
  const state = { isDown: false, givesNoKeys: false, hasWithdrawnKey: false, accountId: 'ada', tokenSeconds: 3_600 };
  /** Claims that the answer to an introspection has in addition. */
  let introspected: Record<string, unknown> | undefined;
  /** Introspections are answered after this promise. */
  let hold: Promise<void> | undefined;
  const server = createServer(async (request, response) => {
    requests.push(request.url ?? '');
    traceparents.push(request.headers['traceparent']);
    if (request.url === introspectionPath) await hold;
    if (state.isDown) return void response.destroy();
    if (state.givesNoKeys && request.url === '/jwks') return void response.end('{}');
    if (state.hasWithdrawnKey && request.url === '/jwks')
      return void response.end(JSON.stringify({ keys: [{ ...jwk, kid: 'next-key' }] }));
    if (introspected && request.url === introspectionPath)
      return void response.end(JSON.stringify({ active: true, aud: audience, sub: 'ada', ...introspected }));
    if (request.url?.startsWith('/interaction/')) {
      const result = { login: { accountId: state.accountId } };
      return void provider.interactionFinished(request, response, result);
    }
    handle(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider: Provider = new Provider(issuer, {
    jwks: { keys: [jwk] },
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'client_credentials'],
        scope: `openid ${scopes}`,
      },
      {
        client_id: introspector.id,
        client_secret: introspector.secret,
        redirect_uris: [],
        response_types: [],
        grant_types: ['client_credentials'],
      },
    ],
    scopes: ['openid', 'read', 'write', 'admin'],
    cookies: { keys: ['cookie key of a test'] },
    pkce: { required: () => true },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    // Every signed-in user has given consent.
    async loadExistingGrant({ oidc }: { oidc: { session: { accountId: string }; client: { clientId: string } } }) {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope(`openid ${scopes}`);
      grant.addResourceScope(audience, scopes);
      await grant.save();
      return grant;
    },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: scopes,
          audience,
          accessTokenFormat: format,
          accessTokenTTL: state.tokenSeconds,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  const handle = provider.callback();
  const discover = () =>
    oauth.discovery(new URL(issuer), client.id, client.secret, undefined, { execute: [oauth.allowInsecureRequests] });
  return {
    issuer,
    state,
    privateKey,
    publicKey,
    /** The number of requests so far whose URL starts with `path`. */
    countRequests: (path: string) => requests.filter((url) => url.startsWith(path)).length,
    /** The header `traceparent` of each request so far. */
    traceparents: () => traceparents,
    /** The settings of a server that accepts the tokens of this issuer. */
    settings: {
      OAUTH_ISSUER: issuer,
      OAUTH_AUDIENCE: audience,
      ...(format === 'opaque' && {
        OAUTH_INTROSPECTION_URL: `${issuer}${introspectionPath}`,
        OAUTH_CLIENT_ID: introspector.id,
        OAUTH_CLIENT_SECRET: introspector.secret,
      }),
    },
    countIntrospections: () => requests.filter((url) => url === introspectionPath).length,
    /** Answers introspections with these claims, also for unknown tokens. A claim that is undefined is left out. */
    answerIntrospections: (claims: Record<string, unknown>) => {
      introspected = claims;
    },
    /** Introspections wait until the returned function is called. */
    holdIntrospections: (): (() => void) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      hold = promise;
      return resolve;
    },
    /** Revokes an opaque token (RFC 7009). */
    revoke: async (token: string) => {
      await oauth.tokenRevocation(await discover(), token);
    },
    /**
     * Signs in by the authorization code flow with PKCE, as a browser with openid-client does. Returns the access
     * token.
     */
    signIn: async (accountId: string, scope = 'openid read write') => {
      state.accountId = accountId;
      const config = await discover();
      const verifier = oauth.randomPKCECodeVerifier();
      const start = oauth.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope,
        resource: audience,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      const callback = await follow(start);
      const tokens = await oauth.authorizationCodeGrant(
        config,
        callback,
        { pkceCodeVerifier: verifier },
        { resource: audience },
      );
      return tokens.access_token;
    },
    /** A token signed with the issuer's own key, with the given changes to its claims and header. */
    sign: (changes: Record<string, unknown> = {}, header: Record<string, unknown> = {}) =>
      signToken({ issuer, changes, header, key: privateKey }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Signing {
  issuer: string;
  changes: Record<string, unknown>;
  header: Record<string, unknown>;
  key: CryptoKey;
}

/** A claim that is undefined is left out. */
export function signToken({ issuer, changes, header, key }: Signing): Promise<string> {
  const now = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: issuer,
    aud: audience,
    sub: 'ada',
    client_id: client.id,
    jti: crypto.randomUUID(),
    iat: now,
    exp: now + 600,
    ...changes,
  };
  return new SignJWT(JSON.parse(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: keyId, ...header })
    .sign(key);
}

/** Follows redirects with cookies, as a browser does, until the application's own address is reached. */
async function follow(start: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  while (!url.href.startsWith(redirectUri)) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) throw new Error(`the issuer answered ${response.status}: ${await response.text()}`);
    url = new URL(location, url);
  }
  return url;
}
