import type { PublicUser } from '../data/tables.ts';
import type { Credential } from './credential.ts';

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
