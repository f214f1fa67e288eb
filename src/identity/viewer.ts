import type { ApiKeyRow, PublicUser, UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';

/** The means by which a viewer is authenticated. */
export type Credential =
  /** `sessionsFrom`: the account's generation of sessions when the session began. */
  | { kind: 'session'; id: string; sessionsFrom: number }
  /** `startedAt`: the time when the token was issued, in milliseconds since 1970, by the issuer's clock. */
  | { kind: 'oauth'; startedAt: number; token: string }
  /** `ownerId`: the user who created the key; null if an operator did. */
  | { kind: 'apiKey'; id: string; ownerId: string | null };

export type CredentialKind = Credential['kind'];

export const scopes = ['READ', 'WRITE', 'ADMIN'] as const;
export type Scope = (typeof scopes)[number];

/** The user of a request, with the credentials used. */
export interface Viewer {
  user: PublicUser;
  /**
   * Viewers with the same `chargedId` share the limits of one user: a user, or all API keys of one owner. A key has no
   * limits of its own, because an account can create any number of keys; and it does not use up those of its owner, who
   * can therefore still revoke a key that was stolen.
   */
  chargedId: string;
  credential: Credential;
  scopes: ReadonlySet<Scope>;
  /** When the credentials expire, in milliseconds since 1970; Infinity for never. */
  expiresAt: number;
}

/** Equal for viewers who see the same: that depends on the user, role and scopes, whatever the kind of credential. */
export function viewerKeyOf(viewer: Viewer | null): string {
  return viewer ? `${viewer.user.id} ${viewer.user.role} ${[...viewer.scopes].sort().join()}` : '';
}

/** The account that a viewer belongs to: the owner of an API key, or else the user. */
export function accountIdOf({ user, credential }: Viewer): string {
  return credential.kind === 'apiKey' && credential.ownerId !== null ? credential.ownerId : user.id;
}

/** The column of an account that decides whether its sessions are valid. */
type SessionState = Pick<UserRow, 'sessionsFrom'>;

/**
 * Why the credential is no longer valid, as a message for the client; undefined if it is valid. `key` is the row of an
 * API key.
 */
export function findRevocation(
  credential: Credential,
  account: (SessionState & Pick<UserRow, 'deletedAt'>) | undefined,
  key?: ApiKeyRow,
): string | undefined {
  if (!account || account.deletedAt !== null) return 'The account was deleted.';
  if (isRevokedByGeneration(credential, account)) return 'The session was revoked.';
  if (keyIdOf(credential) !== undefined && !isActive(key)) return 'The API key was revoked or has expired.';
  return undefined;
}

/**
 * A new password begins a generation of sessions, which revokes all earlier ones: also the session that sets the password,
 * because another person may have a copy of its token. For the user of an issuer, `sessionsFrom` is a time: tokens from
 * before it were issued for an account that was deleted.
 */
export function isRevokedByGeneration(credential: Credential, { sessionsFrom }: SessionState): boolean {
  if (credential.kind === 'apiKey') return false;
  return (credential.kind === 'session' ? credential.sessionsFrom : credential.startedAt) < sessionsFrom;
}

/** The id of the API key; undefined for a credential that has no row of its own. */
export function keyIdOf(credential: Credential): string | undefined {
  return credential.kind === 'apiKey' ? credential.id : undefined;
}

function isActive(key: ApiKeyRow | undefined): boolean {
  return key !== undefined && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > Date.now());
}

/** `reason` is for the operator only; it must not contain any part of the token. */
export function invalidToken(reason?: string): ClientError {
  const message = 'The access token is not valid: it is malformed, expired or revoked.';
  return new ClientError('UNAUTHENTICATED', message, {}, { cause: reason });
}
