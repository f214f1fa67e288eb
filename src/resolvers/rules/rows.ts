import type DataLoader from 'dataloader';
import type { Loaders } from '../../data/loaders.ts';
import type { PublicUser, RoomRow, UserRow } from '../../data/tables.ts';
import { toPublicUser } from '../../data/users.ts';
import { ClientError } from '../../errors.ts';
import type { Context } from '../context.ts';

/**
 * Loads a row that another row references. A foreign key guarantees that it exists, and its field is non-null in the
 * schema.
 */
export function loadReferenced<Row>(loader: DataLoader<string, Row | undefined>, id: string): Promise<Row> {
  return loader.load(id) as Promise<Row>;
}

/** The account as a mutation found or left it. Its e-mail is not read again: the account may be deleted by now. */
export function toUser(account: UserRow, { loaders }: Pick<Context, 'loaders'>): PublicUser {
  loaders.email.clear(account.id).prime(account.id, account.email);
  return toPublicUser(account);
}

/**
 * Loads the room that a row references. @throws ClientError ROOM_DELETED if the room was deleted, together with that
 * row, after the row was read.
 */
export function loadRoom({ room: loader }: Loaders, id: string): Promise<RoomRow> {
  return loader.load(id).then((room) => {
    if (room === undefined) throw new ClientError('ROOM_DELETED');
    return room;
  });
}
