import type { UserRow } from '../data/tables.ts';

export const scopes = ['READ', 'WRITE', 'ADMIN'] as const;
export type Scope = (typeof scopes)[number];

/** By what someone proved who they are. */
export type Credential =
  /** `sessionsFrom`: the account's when the session began. No clock is needed to compare it with the present one. */
  | { kind: 'session'; id: string; sessionsFrom: number }
  /** `startedAt`: by the issuer's clock, in milliseconds since 1970. */
  | { kind: 'oauth'; startedAt: number }
  | { kind: 'apiKey'; id: string };

/** Who is asking, by which credentials. */
export interface Viewer {
  user: UserRow;
  credential: Credential;
  scopes: ReadonlySet<Scope>;
  /** When the credentials end, in milliseconds since 1970; Infinity for never. */
  expiresAt: number;
}

/** Equal for viewers who see the same. */
export function viewerKeyOf(viewer: Viewer | null): string {
  return viewer ? `${viewer.user.id} ${viewer.user.role} ${[...viewer.scopes].sort().join()}` : '';
}
