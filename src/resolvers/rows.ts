import type DataLoader from 'dataloader';

/** A row that another row refers to; the database keeps it from missing. */
export async function loadOrThrow<Row>(loader: DataLoader<string, Row | undefined>, id: string): Promise<Row> {
  const row = await loader.load(id);
  if (row === undefined) throw new Error(`The row ${id} is referred to and missing.`);
  return row;
}
