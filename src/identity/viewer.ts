import type { PublicUser } from '../data/tables.ts';
import type { Credential } from './credential.ts';

export const scopes = ['READ', 'WRITE', 'ADMIN'] as const;
export type Scope = (typeof scopes)[number];

/** The user of a request, with the credentials used. */
export interface Viewer {
  user: PublicUser;
  credential: Credential;
  scopes: ReadonlySet<Scope>;
  /** When the credentials expire, in milliseconds since 1970; Infinity for never. */
  expiresAt: number;
}

/** Equal for viewers who see the same: that depends on the user, role and scopes, whatever the kind of credential. */
export function viewerKeyOf(viewer: Viewer | null): string {
  return viewer ? `${viewer.user.id} ${viewer.user.role} ${[...viewer.scopes].sort().join()}` : '';
}
