import type { Loaders, RowLoader } from '../../data/domain/loaders.ts';
import { toPublicUser } from '../../data/domain/users.ts';
import type { ClosedRoom } from '../../data/event-log/events.ts';
import type { PublicUser, RoomRow, UserRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import type { Context } from '../context.ts';

/**
 * Loads a row that another row references. A foreign key guarantees that it exists, and its field is non-null in the
 * schema.
 */
export function loadReferenced<Row>(loader: RowLoader<Row>, id: string): Promise<Row> {
  return loader.load(id) as Promise<Row>;
}

/** Null if the account is deleted. */
export async function findLivingUser(loaders: Loaders, id: string): Promise<PublicUser | null> {
  const user = await loaders.user.load(id);
  return user && user.deletedAt === null ? user : null;
}

/** The account as a mutation found or left it. Its e-mail is not read again: the account may be deleted by now. */
export function toUser(account: UserRow, { loaders }: Pick<Context, 'loaders'>): PublicUser {
  loaders.email.clear(account.id).prime(account.id, account.email);
  return toPublicUser(account);
}

/** Whether the posts, members and presence of the room are hidden. */
export function isClosed(room: RoomRow | ClosedRoom): room is ClosedRoom {
  return 'isClosed' in room;
}

/**
 * Loads the room that a row references. `last`: the room as it was, if that is known. @throws ClientError ROOM_DELETED if
 * the room was deleted, together with that row, after the row was read.
 */
export function loadRoom({ room: loader }: Loaders, id: string, last?: RoomRow | ClosedRoom): Promise<RoomRow> {
  if (last && isClosed(last)) return Promise.resolve(last);
  return loader.load(id).then((room = last) => {
    if (room === undefined) throw new ClientError('ROOM_DELETED');
    return room;
  });
}
