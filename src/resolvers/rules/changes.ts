import type { ChangeRecord } from '../../changes/commit-change.ts';
import { type Db, type RowLock, UniqueViolation } from '../../data/database/database.ts';
import { findApiKey } from '../../data/domain/api-keys.ts';
import { findAccount, toPublicUser } from '../../data/domain/users.ts';
import type { UserRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { assertSignedIn } from '../../identity/access.ts';
import { findRevocation, keyIdOf, type Viewer } from '../../identity/viewer.ts';
import type { Context, SharedCommit } from '../context.ts';
import { claimKey } from './idempotency.ts';
import {
  assertVisiblePost,
  assertVisibleRoom,
  findPostAccess,
  findRoomAccess,
  type PostAccess,
  type RoomAccess,
} from './visible-rows.ts';

type ViewerWork<T> = (db: Db, record: ChangeRecord, viewer: Viewer) => Promise<T>;
/** The work of a change that depends on a row which was read together with the account. */
type RowWork<Row, T> = (db: Db, record: ChangeRecord, viewer: Viewer, row: Row) => Promise<T>;

/** The lock of the account, and a read that does not depend on it: both need only one round trip to the database. */
interface Reads<Row> {
  account: RowLock;
  row: (db: Db, viewer: Viewer) => Promise<Row>;
  shared?: SharedCommit | undefined;
}

const nothing = async () => undefined;

/**
 * Runs one durable transaction of the signed-in viewer. The account is read again in the transaction, and is not deleted
 * before the commit.
 * @throws ClientError UNAUTHENTICATED.
 */
export function changeAsViewer<T>(context: Context, work: ViewerWork<T>): Promise<T> {
  return changeAfterReads(context, { account: 'share', row: nothing }, work);
}

/**
 * Like `changeAsViewer`, for a change of the viewer's own account. Changes of an account run one after the other, so that
 * they can depend on all of its rows, such as the number of its keys.
 */
export function changeAccount<T>(context: Context, work: RowWork<UserRow, T>): Promise<T> {
  return changeAfterReads(context, { account: 'exclusive', row: nothing }, (db, record, viewer, _, account) =>
    work(db, record, viewer, account),
  );
}

interface RoomChange {
  id: string;
  lock?: RowLock;
  /** Whether the change may share its commit; the default is whether it shares the lock. See `TransactionOptions.room`. */
  sharesCommit?: boolean;
  /** The user whom the change makes a member. See `TransactionOptions.memberId`. */
  memberId?: string | undefined;
}

/**
 * Like `changeAsViewer`, for a change in a room, which is locked: a change that needs the room, its visibility or a
 * membership shares the lock, and a change that takes one of these away locks exclusively. @throws ClientError NOT_FOUND
 * if there is no such room, or it is not visible to the viewer.
 */
export async function changeInRoom<T>(
  context: Context,
  { id, lock = 'share', sharesCommit = lock === 'share', memberId }: RoomChange,
  work: RowWork<RoomAccess, T>,
): Promise<T> {
  const row = (db: Db, viewer: Viewer) => findRoomAccess(db, viewer, id, lock);
  const shared = sharesCommit ? { room: id, memberId } : undefined;
  const change = () =>
    changeAfterReads(context, { account: 'share', row, shared }, async (db, record, viewer, access) =>
      work(db, record, viewer, await assertVisibleRoom(viewer, access)),
    );
  return change().catch((error: unknown) => {
    // Two requests that add the same member at the same time: the one that fails runs again, and finds the membership.
    if (memberId !== undefined && error instanceof UniqueViolation) return change();
    throw error;
  });
}

/**
 * Like `changeAsViewer`, for a change of a post, which is locked. The lock of its room is shared. @throws ClientError
 * NOT_FOUND if there is no such post, or it is not visible to the viewer.
 */
export function changePostAsViewer<T>(context: Context, id: string, work: RowWork<PostAccess, T>): Promise<T> {
  const row = (db: Db, viewer: Viewer) => findPostAccess(db, viewer, id);
  return changeAfterReads(context, { account: 'share', row }, async (db, record, viewer, access) =>
    work(db, record, viewer, await assertVisiblePost(viewer, access)),
  );
}

export function changeAfterReads<Row, T>(
  { viewer, change, idempotency }: Context,
  { account: lock, row: read, shared }: Reads<Row>,
  work: (db: Db, record: ChangeRecord, viewer: Viewer, row: Row, account: UserRow) => Promise<T>,
): Promise<T> {
  const signedIn = assertSignedIn(viewer);
  // A change that shares a commit must not wait for the key, which it stores before its work.
  return change(
    async (db, record) => {
      const [account, row] = await Promise.all([
        findOwnAccountOrThrow(db, signedIn, lock),
        read(db, signedIn),
        // Locked last: a repeated request that waits for the key holds no lock that the first one needs.
        idempotency && claimKey(db, record, signedIn.user.id, idempotency),
      ]);
      return work(db, record, { ...signedIn, user: toPublicUser(account) }, row, account);
    },
    idempotency ? undefined : shared,
  );
}

/**
 * Reads the viewer's account again: after the check of the credentials another request, or an earlier field of the same
 * request, may have revoked them. @throws ClientError UNAUTHENTICATED.
 */
export async function findOwnAccountOrThrow(db: Db, { user, credential }: Viewer, lock?: RowLock): Promise<UserRow> {
  const keyId = keyIdOf(credential);
  const [account, key] = await Promise.all([
    findAccount(db, user.id, lock),
    keyId === undefined ? undefined : findApiKey(db, keyId),
  ]);
  const reason = findRevocation(credential, account, key);
  if (!account || reason !== undefined) throw new ClientError('UNAUTHENTICATED', reason);
  return account;
}

/** Whether an update has no changes. It then leaves the row as it is, including its version. */
export function isEmpty(changes: Record<string, unknown>): boolean {
  return Object.values(changes).every((value) => value === undefined);
}
