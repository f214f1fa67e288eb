import { findApiKey } from '../data/api-keys.ts';
import type { Db } from '../data/database.ts';
import { findUser } from '../data/users.ts';
import type { Context } from '../engine/context.ts';
import { assertKeyLiving, assertLiving, assertSignedIn } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { ChangeRecord } from '../live/changes.ts';

/**
 * One durable transaction of whoever is signed in. The account is read again inside, since it may have been deleted, or its
 * sessions or its key ended, after its credentials were checked: by another request, or earlier in the same one.
 * @throws ClientError UNAUTHENTICATED.
 */
export function changeAsViewer<T>(
  { viewer, change }: Context,
  work: (db: Db, record: ChangeRecord, viewer: Viewer) => Promise<T>,
): Promise<T> {
  const signedIn = assertSignedIn(viewer);
  return change(async (db, record) => {
    const { credential } = signedIn;
    if (credential.kind === 'apiKey') assertKeyLiving(await findApiKey(db, credential.id));
    const user = assertLiving(signedIn, await findUser(db, signedIn.user.id));
    return work(db, record, { ...signedIn, user });
  });
}

/** Whether an update names nothing to change: then nothing changes, not even the version. */
export function isEmpty(changes: Record<string, unknown>): boolean {
  return Object.values(changes).every((value) => value === undefined);
}
