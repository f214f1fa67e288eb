import { findApiKey } from '../data/api-keys.ts';
import type { Db } from '../data/database.ts';
import type { UserRow } from '../data/tables.ts';
import { findAccount, toPublicUser } from '../data/users.ts';
import type { Context } from '../engine/context.ts';
import { ClientError } from '../errors.ts';
import { assertSignedIn } from '../identity/access.ts';
import { findRevocation, keyIdOf } from '../identity/credential.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { ChangeRecord } from '../live/changes.ts';

/**
 * Runs one durable transaction of the signed-in viewer, whose account is read again in the transaction.
 * @throws ClientError UNAUTHENTICATED.
 */
export function changeAsViewer<T>(
  { viewer, change }: Context,
  work: (db: Db, record: ChangeRecord, viewer: Viewer) => Promise<T>,
): Promise<T> {
  const signedIn = assertSignedIn(viewer);
  return change(async (db, record) => {
    const account = await findOwnAccount(db, signedIn);
    return work(db, record, { ...signedIn, user: toPublicUser(account) });
  });
}

/**
 * Reads the viewer's account again: after the check of the credentials another request, or an earlier field of the same
 * request, may have revoked them. @throws ClientError UNAUTHENTICATED.
 */
export async function findOwnAccount(db: Db, { user, credential }: Viewer): Promise<UserRow> {
  const keyId = keyIdOf(credential);
  const key = keyId === undefined ? undefined : await findApiKey(db, keyId);
  const account = await findAccount(db, user.id);
  const reason = findRevocation(credential, account, key);
  if (!account || reason !== undefined) throw new ClientError('UNAUTHENTICATED', reason);
  return account;
}

/** Whether an update has no changes. It then leaves the row as it is, including its version. */
export function isEmpty(changes: Record<string, unknown>): boolean {
  return Object.values(changes).every((value) => value === undefined);
}
