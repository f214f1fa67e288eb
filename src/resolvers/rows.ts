import type DataLoader from 'dataloader';
import type { Loaders } from '../data/loaders.ts';
import type { RoomRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';

/**
 * Loads a row that another row references. A foreign key guarantees that it exists, and its field is non-null in the
 * schema.
 */
export function loadReferred<Row>(loader: DataLoader<string, Row | undefined>, id: string): Promise<Row> {
  return loader.load(id) as Promise<Row>;
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
