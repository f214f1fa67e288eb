import { decodeJwt } from 'jose';
import type { Database } from '../data/database.ts';
import { ClientError } from '../errors.ts';
import { looksLikeApiKey } from './api-key.ts';
import { findApplication } from './application.ts';
import type { OAuth } from './oauth/oauth.ts';
import { type Sessions, sessionIssuer } from './session/session.ts';
import type { Viewer } from './viewer.ts';

export interface CredentialParts {
  database: Database;
  sessions: Sessions;
  /** Undefined if no issuer is configured. */
  oauth: OAuth | undefined;
}

const maxLength = 8_192;

/**
 * Finds the viewer of an `Authorization` header. Bad credentials are never treated as no credentials.
 * @throws ClientError UNAUTHENTICATED for bad credentials.
 */
export async function findViewer(parts: CredentialParts, authorization: string): Promise<Viewer> {
  const [, scheme, token] =
    authorization.length > maxLength ? [] : (/^(bearer|apikey) +(\S+) *$/i.exec(authorization) ?? []);
  if (!scheme || !token) {
    throw new ClientError(
      'UNAUTHENTICATED',
      'The Authorization is not of the form "Bearer <access token>" or "ApiKey <key>".',
    );
  }
  if (scheme.toLowerCase() === 'apikey') return findApplication(parts.database, token);
  // This includes malformed API keys: they must not be sent to the issuer.
  if (looksLikeApiKey(token)) {
    throw new ClientError('UNAUTHENTICATED', 'This is an API key: it goes behind "ApiKey", not behind "Bearer".');
  }
  if (!parts.oauth || isOurs(token)) return parts.sessions.findViewer(parts.database.db, token);
  return parts.oauth.findViewer(parts.database, token);
}

/** Whether the token names Postroom as its issuer; its signature is verified later. */
function isOurs(token: string): boolean {
  try {
    return decodeJwt(token).iss === sessionIssuer;
  } catch {
    return false;
  }
}
