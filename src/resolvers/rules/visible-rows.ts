import type { Db, RowLock } from '../../data/database.ts';
import { findPost } from '../../data/posts.ts';
import { findRoom, findRoomOfPost, isMember, isMemberOfPostRoom } from '../../data/rooms.ts';
import type { PostRow, RoomRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { maySeePost, maySeeRoom } from '../../identity/access.ts';
import type { Viewer } from '../../identity/viewer.ts';
import type { Context } from '../context.ts';

/** A room, and whether the viewer is a member. */
export interface RoomAccess {
  room: RoomRow;
  isMember: boolean;
}

/** A post, and the access of the viewer to its room. */
interface PostAccess {
  post: PostRow;
  access: RoomAccess;
}

/** Locks the room. Its membership is read after the lock is held, although both statements are sent at once. */
export async function findRoomAccess(
  db: Db,
  userId: string,
  id: string,
  lock: RowLock,
): Promise<RoomAccess | undefined> {
  const [room, isJoined] = await Promise.all([findRoom(db, id, lock), isMember(db, id, userId)]);
  return room && { room, isMember: isJoined };
}

/** Locks the post exclusively, after its room: the deletion of a room locks them in the same order. */
export async function findPostAccess(db: Db, userId: string, id: string): Promise<PostAccess | undefined> {
  const [room, isJoined, post] = await Promise.all([
    findRoomOfPost(db, id, 'share'),
    isMemberOfPostRoom(db, id, userId),
    findPost(db, id, 'exclusive'),
  ]);
  return room && post && { post, access: { room, isMember: isJoined } };
}

/** @throws ClientError NOT_FOUND if there is no such room, or it is not visible to the viewer. */
export async function assertVisibleRoom(viewer: Viewer, access: RoomAccess | undefined): Promise<RoomAccess> {
  if (access && (await isVisible(viewer, access))) return access;
  throw new ClientError('NOT_FOUND', 'There is no such room.');
}

/** @throws ClientError NOT_FOUND if there is no such post, or it is not visible to the viewer. */
export async function assertVisiblePost(viewer: Viewer, found: PostAccess | undefined): Promise<PostRow> {
  if (found && maySeePost(() => viewer, found.post) && (await isVisible(viewer, found.access))) {
    return found.post;
  }
  throw new ClientError('NOT_FOUND', 'There is no such post.');
}

function isVisible(viewer: Viewer, { room, isMember }: RoomAccess): Promise<boolean> {
  return maySeeRoom(
    () => viewer,
    room,
    async () => isMember,
  );
}

export async function findVisibleRoom(id: string, context: Context): Promise<RoomRow | undefined> {
  const room = await context.loaders.room.load(id);
  return room && (await maySeeRoom(() => context.viewer, room, context.loaders.isMember)) ? room : undefined;
}

export async function findVisiblePost(id: string, context: Context): Promise<PostRow | undefined> {
  const post = await context.loaders.post.load(id);
  if (!post || !maySeePost(() => context.viewer, post)) return undefined;
  return (await findVisibleRoom(post.roomId, context)) ? post : undefined;
}
