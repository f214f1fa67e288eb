import { ClientError } from '../errors.ts';
import type { Context } from './context.ts';

/** @throws ClientError CONFLICT if the client expects another version. */
export function assertVersion(current: { version: number }, expected: number | null | undefined): void {
  if (expected != null && expected !== current.version) {
    throw new ClientError('CONFLICT', `It is at version ${current.version}, not ${expected}.`);
  }
}

/** @throws ClientError CONFLICT if another request changed the row at the same time. */
export function assertUpdated<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new ClientError('CONFLICT', 'It has changed at the same moment.');
  return row;
}

/** Runs a change. A violated unique constraint becomes CONFLICT. */
export async function refuseDuplicate<T>({ services }: Context, taken: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (services.database.dialect.isUniqueViolation(error)) throw new ClientError('CONFLICT', taken);
    throw error;
  }
}
