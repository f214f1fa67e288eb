import { findApiKey } from '../data/api-keys.ts';
import type { Db, RowLock } from '../data/database.ts';
import { findUser } from '../data/users.ts';
import { assertKeyLiving, assertLiving, assertSignedIn } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { ChangeRecord } from '../live/changes.ts';
import type { Context } from './context.ts';

type ViewerWork<T> = (db: Db, record: ChangeRecord, viewer: Viewer) => Promise<T>;

/**
 * Runs one durable transaction of the signed-in viewer. The account is read again in the transaction, because after the
 * check of its credentials another request, or an earlier field of the same request, may have deleted it, ended its
 * sessions or revoked its key. It is not deleted before the commit.
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
    const { credential } = signedIn;
    if (credential.kind === 'apiKey') assertKeyLiving(await findApiKey(db, credential.id));
    const user = assertLiving(signedIn, await findUser(db, signedIn.user.id, lock));
    return work(db, record, { ...signedIn, user });
  });
}

/** Whether an update has no changes. It then leaves the row as it is, including its version. */
export function isEmpty(changes: Record<string, unknown>): boolean {
  return Object.values(changes).every((value) => value === undefined);
}
