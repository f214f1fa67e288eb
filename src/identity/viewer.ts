import type { UserRow } from '../data/tables.ts';

export const scopes = ['READ', 'WRITE', 'ADMIN'] as const;
export type Scope = (typeof scopes)[number];

/** The means by which a viewer is authenticated. */
type Credential =
  /**
   * `sessionsFrom`: the account's value when the session began; it is compared with the current value, not with a
   * clock.
   */
  | { kind: 'session'; id: string; sessionsFrom: number }
  /** `startedAt`: in milliseconds since 1970, by the issuer's clock. */
  | { kind: 'oauth'; startedAt: number }
  | { kind: 'apiKey'; id: string };

/** The user of a request, with the credentials used. */
export interface Viewer {
  user: UserRow;
  credential: Credential;
  scopes: ReadonlySet<Scope>;
  /** When the credentials expire, in milliseconds since 1970; Infinity for never. */
  expiresAt: number;
}

/** Equal for viewers who see the same. */
export function viewerKeyOf(viewer: Viewer | null): string {
  return viewer ? `${viewer.user.id} ${viewer.user.role} ${[...viewer.scopes].sort().join()}` : '';
}
