import { UniqueViolation } from '../../data/database/database.ts';
import { ClientError } from '../../errors.ts';

/** @throws ClientError CONFLICT if the client expects another version. */
export function assertVersion(current: { version: number }, expected: number | null | undefined): void {
  if (expected != null && expected !== current.version) {
    throw new ClientError('CONFLICT', `The object is at version ${current.version}, not ${expected}.`);
  }
}

/** Runs a change. A violated unique constraint becomes CONFLICT. */
export async function refuseDuplicate<T>(message: string, change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (error instanceof UniqueViolation) throw new ClientError('CONFLICT', message);
    throw error;
  }
}
