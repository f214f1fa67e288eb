import { decodeJwt } from 'jose';
import type { Database } from '../data/database.ts';
import { ClientError } from '../errors.ts';
import { findKeyViewer } from './api-key/api-key.ts';
import { looksLikeApiKey } from './api-key/key-text.ts';
import type { Audit } from './audit.ts';
import { type CredentialKind, invalidToken } from './credential.ts';
import type { OAuth } from './oauth/oauth.ts';
import { type Sessions, sessionIssuer } from './session/session.ts';
import type { Viewer } from './viewer.ts';
import type { ViewerCache } from './viewer-cache.ts';

/** Finds the viewer of an `Authorization` header; null without a header. @throws ClientError UNAUTHENTICATED. */
export type Authenticate = (authorization: string | undefined, address: string) => Promise<Viewer | null>;

export interface AuthenticationParts {
  database: Database;
  sessions: Sessions;
  /** Undefined if no issuer is configured. */
  oauth: OAuth | undefined;
  viewers: ViewerCache;
  audit: Audit;
  /** Charges refused credentials to the client's address. It may reject, and the error then replaces the refusal. */
  chargeRefused: (address: string) => Promise<void>;
}

/** Refused credentials are charged to the client's address, and audited within the rate of the address. */
export function createAuthentication(parts: AuthenticationParts): Authenticate {
  return async (authorization, address) => {
    if (authorization === undefined) return null;
    try {
      return await parts.viewers.find(authorization, () => findViewer(parts, authorization));
    } catch (error) {
      if (error instanceof ClientError && error.code === 'UNAUTHENTICATED') {
        await parts.chargeRefused(address);
        parts.audit({ event: 'credentialsRefused', reason: error.message, address });
      }
      throw error;
    }
  };
}

type Verify = (parts: AuthenticationParts, token: string) => Promise<Viewer>;

const maxLength = 8_192;

const verifiers: Record<CredentialKind, Verify> = {
  session: ({ database, sessions }, token) => sessions.findViewer(database.db, token),
  apiKey: ({ database }, key) => findKeyViewer(database, key),
  async oauth({ database, oauth }, token) {
    if (!oauth) throw invalidToken();
    return oauth.findViewer(database, token);
  },
};

/**
 * Finds the viewer of an `Authorization` header. Bad credentials are never treated as no credentials.
 * @throws ClientError UNAUTHENTICATED for bad credentials.
 */
async function findViewer(parts: AuthenticationParts, authorization: string): Promise<Viewer> {
  const [, scheme, token] =
    authorization.length > maxLength ? [] : (/^(bearer|apikey) +(\S+) *$/i.exec(authorization) ?? []);
  if (!scheme || !token) {
    throw new ClientError(
      'UNAUTHENTICATED',
      'The Authorization must have the form "Bearer <access token>" or "ApiKey <key>".',
    );
  }
  return verifiers[kindOf(scheme, token)](parts, token);
}

/** @throws ClientError UNAUTHENTICATED for an API key with the scheme Bearer: it must not be sent to the issuer. */
function kindOf(scheme: string, token: string): CredentialKind {
  if (scheme.toLowerCase() === 'apikey') return 'apiKey';
  if (looksLikeApiKey(token)) {
    throw new ClientError('UNAUTHENTICATED', 'This is an API key: send it as "ApiKey <key>", not as "Bearer <key>".');
  }
  return isOurs(token) ? 'session' : 'oauth';
}

/** Whether the token names Postroom as its issuer; its signature is verified later. */
function isOurs(token: string): boolean {
  try {
    return decodeJwt(token).iss === sessionIssuer;
  } catch {
    return false;
  }
}
