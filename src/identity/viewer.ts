import type { UserRow } from '../data/tables.ts';

/** Who is asking, by which credentials. */
export interface Viewer {
  user: UserRow;
  /** When the credentials end, in milliseconds since 1970. */
  expiresAt: number;
}
