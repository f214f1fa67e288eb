import type { Db } from '../data/database/database.ts';
import { findUsersWithAccess } from '../data/domain/memberships.ts';
import type { VisibleRooms } from '../data/domain/visible-rooms.ts';
import { ClientError } from '../errors.ts';

/** A stream, or whatever else ends when its viewer may not see the room any more. */
export interface AccessHolder {
  readonly visibleRooms: VisibleRooms;
  end(error: ClientError): void;
}

/** Ends the holders whose viewers may not see the room. */
export async function endWithoutAccess(db: Db, holders: Iterable<AccessHolder>, roomId: string): Promise<void> {
  const limited = [...holders].filter(({ visibleRooms }) => !visibleRooms.seesAll);
  if (limited.length === 0) return;
  const userIds = new Set(limited.flatMap(({ visibleRooms }) => visibleRooms.userId ?? []));
  const allowed = await findUsersWithAccess(db, roomId, [...userIds]);
  if (!allowed) return;
  for (const holder of limited) {
    const { userId } = holder.visibleRooms;
    if (userId === null || !allowed.has(userId)) holder.end(new ClientError('MEMBERSHIP_REVOKED'));
  }
}
