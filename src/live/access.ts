import type { Db } from '../data/database/database.ts';
import { findMembersAmong } from '../data/domain/memberships.ts';
import type { ViewerScope } from '../data/domain/visible-rooms.ts';
import { ClientError } from '../errors.ts';

/** A stream, or whatever else ends when its viewer may not see the room any more. */
export interface AccessHolder {
  readonly viewerScope: ViewerScope;
  end(error: ClientError): void;
}

/** Ends the holders whose viewers may not see the room. */
export async function endWithoutAccess(db: Db, holders: Iterable<AccessHolder>, roomId: string): Promise<void> {
  const limited = [...holders].filter(({ viewerScope }) => !viewerScope.seesAll);
  if (limited.length === 0) return;
  const userIds = new Set(limited.map(({ viewerScope }) => viewerScope.userId));
  const { needsMembership, members } = await findMembersAmong(db, roomId, [...userIds]);
  if (!needsMembership) return;
  for (const holder of limited) {
    const { userId } = holder.viewerScope;
    if (userId === null || !members.has(userId)) holder.end(new ClientError('MEMBERSHIP_REVOKED'));
  }
}
