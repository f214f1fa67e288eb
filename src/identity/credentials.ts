import type { Db } from '../data/database.ts';
import { ClientError } from '../errors.ts';
import type { Sessions } from './session.ts';
import type { Viewer } from './viewer.ts';

/** The viewer that an `Authorization` names: null for none. @throws ClientError UNAUTHENTICATED for a bad one, never anonymous. */
export async function findViewer(
  db: Db,
  sessions: Sessions,
  authorization: string | undefined,
): Promise<Viewer | null> {
  if (authorization === undefined) return null;
  const [, token] = /^bearer +(\S+) *$/i.exec(authorization) ?? [];
  if (!token) throw new ClientError('UNAUTHENTICATED', 'The Authorization is not of the form "Bearer <access token>".');
  return sessions.findViewer(db, token);
}
