import { findApiKey } from '../../data/api-keys.ts';
import type { Db, RowLock } from '../../data/database.ts';
import type { UserRow } from '../../data/tables.ts';
import { findAccount, toPublicUser } from '../../data/users.ts';
import { ClientError } from '../../errors.ts';
import { assertSignedIn } from '../../identity/access.ts';
import { findRevocation, keyIdOf } from '../../identity/credential.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { ChangeRecord } from '../../live/changes.ts';
import type { Context } from '../context.ts';

type ViewerWork<T> = (db: Db, record: ChangeRecord, viewer: Viewer) => Promise<T>;

/**
 * Runs one durable transaction of the signed-in viewer. The account is read again in the transaction, and is not deleted
 * before the commit.
 * @throws ClientError UNAUTHENTICATED.
 */
export function changeAsViewer<T>(context: Context, work: ViewerWork<T>): Promise<T> {
  return changeWithLock(context, 'share', work);
}

/**
 * Like `changeAsViewer`, for a change of the viewer's own account. Changes of an account run one after the other, so that
 * they can depend on all of its rows, such as the number of its keys.
 */
export function changeAccount<T>(context: Context, work: ViewerWork<T>): Promise<T> {
  return changeWithLock(context, 'exclusive', work);
}

function changeWithLock<T>({ viewer, change }: Context, lock: RowLock, work: ViewerWork<T>): Promise<T> {
  const signedIn = assertSignedIn(viewer);
  return change(async (db, record) => {
    const account = await findOwnAccount(db, signedIn, lock);
    return work(db, record, { ...signedIn, user: toPublicUser(account) });
  });
}

/**
 * Reads the viewer's account again: after the check of the credentials another request, or an earlier field of the same
 * request, may have revoked them. @throws ClientError UNAUTHENTICATED.
 */
export async function findOwnAccount(db: Db, { user, credential }: Viewer, lock?: RowLock): Promise<UserRow> {
  const keyId = keyIdOf(credential);
  const key = keyId === undefined ? undefined : await findApiKey(db, keyId);
  const account = await findAccount(db, user.id, lock);
  const reason = findRevocation(credential, account, key);
  if (!account || reason !== undefined) throw new ClientError('UNAUTHENTICATED', reason);
  return account;
}

/** Whether an update has no changes. It then leaves the row as it is, including its version. */
export function isEmpty(changes: Record<string, unknown>): boolean {
  return Object.values(changes).every((value) => value === undefined);
}
