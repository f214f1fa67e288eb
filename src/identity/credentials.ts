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
  /** Where an issuer is configured. */
  oauth: OAuth | undefined;
}

const maxLength = 8_192;

/** The viewer that an `Authorization` names. @throws ClientError UNAUTHENTICATED for a bad one, never anonymous. */
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
  // Also what is nearly one: no issuer is told of it.
  if (looksLikeApiKey(token)) {
    throw new ClientError('UNAUTHENTICATED', 'This is an API key: it goes behind "ApiKey", not behind "Bearer".');
  }
  if (!parts.oauth || isOurs(token)) return parts.sessions.findViewer(parts.database.db, token);
  return parts.oauth.findViewer(parts.database, token);
}

/** What it says of itself; whether that is true is checked by whom it names. */
function isOurs(token: string): boolean {
  try {
    return decodeJwt(token).iss === sessionIssuer;
  } catch {
    return false;
  }
}
