import type { VisibleRooms } from '../data/visible-rooms.ts';
import { ClientError } from '../errors.ts';

/** Finds the users among `userIds` who may see the room; undefined if every user may see it. */
export type FindUsersWithAccess = (roomId: string, userIds: readonly string[]) => Promise<Set<string> | undefined>;

/** A stream, or whatever else ends when its viewer may not see the room any more. */
export interface AccessHolder {
  readonly visibleRooms: VisibleRooms;
  end(error: ClientError): void;
}

/** Ends the holders whose viewers may not see the room. */
export async function endWithoutAccess(
  holders: Iterable<AccessHolder>,
  roomId: string,
  findUsersWithAccess: FindUsersWithAccess,
): Promise<void> {
  const limited = [...holders].filter(({ visibleRooms }) => !visibleRooms.seesAll);
  if (limited.length === 0) return;
  const userIds = new Set(limited.flatMap(({ visibleRooms }) => visibleRooms.userId ?? []));
  const allowed = await findUsersWithAccess(roomId, [...userIds]);
  if (!allowed) return;
  for (const holder of limited) {
    const { userId } = holder.visibleRooms;
    if (userId === null || !allowed.has(userId)) holder.end(new ClientError('MEMBERSHIP_REVOKED'));
  }
}
