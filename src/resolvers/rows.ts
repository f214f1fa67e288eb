import type DataLoader from 'dataloader';
import type { Loaders } from '../data/loaders.ts';
import type { RoomRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';

/** A row that another row refers to. The database keeps it from missing, and the schema from being told as null. */
export function loadReferred<Row>(loader: DataLoader<string, Row | undefined>, id: string): Promise<Row> {
  return loader.load(id) as Promise<Row>;
}

/** The room that a row refers to. @throws ClientError ROOM_DELETED where it went, with that row, since the row was read. */
export function loadRoom({ room: loader }: Loaders, id: string): Promise<RoomRow> {
  return loader.load(id).then((room) => {
    if (room === undefined) throw new ClientError('ROOM_DELETED');
    return room;
  });
}
