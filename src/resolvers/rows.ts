import type DataLoader from 'dataloader';
import type { Loaders } from '../data/loaders.ts';
import type { RoomRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';

/** A row that another row refers to; the database keeps it from missing. */
export async function loadOrThrow<Row>(loader: DataLoader<string, Row | undefined>, id: string): Promise<Row> {
  const row = await loader.load(id);
  if (row === undefined) throw new Error(`The row ${id} is referred to and missing.`);
  return row;
}

/** The room that a row refers to. @throws ClientError ROOM_DELETED where it went, with that row, since the row was read. */
export async function loadRoom({ room: loader }: Loaders, id: string): Promise<RoomRow> {
  const room = await loader.load(id);
  if (room === undefined) throw new ClientError('ROOM_DELETED');
  return room;
}
