import type { Db, RowLock } from '../../data/database.ts';
import { findPost } from '../../data/posts.ts';
import { findMemberships, findRoom } from '../../data/rooms.ts';
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

/**
 * For use within a change. It locks the room: a change that needs the room, its visibility or a membership shares the
 * lock, and a change that takes one of these away locks exclusively. @throws ClientError NOT_FOUND if there is no such
 * room, or it is not visible to the viewer.
 */
export async function findRoomOrThrow(
  db: Db,
  viewer: Viewer,
  id: string,
  lock: RowLock = 'share',
): Promise<RoomAccess> {
  const access = await findRoomAccess(db, viewer, id, lock);
  if (!access) throw new ClientError('NOT_FOUND', 'There is no such room.');
  return access;
}

/**
 * For a change of the post. It locks the post, and shares a lock of the room. @throws ClientError NOT_FOUND if there is
 * no such post, or it is not visible to the viewer.
 */
export async function findPostOrThrow(db: Db, viewer: Viewer, id: string): Promise<PostRow> {
  const post = await findPost(db, id, 'exclusive');
  const isSeen = post && maySeePost(() => viewer, post) && (await findRoomAccess(db, viewer, post.roomId, 'share'));
  if (!post || !isSeen) throw new ClientError('NOT_FOUND', 'There is no such post.');
  return post;
}

async function findRoomAccess(db: Db, viewer: Viewer, id: string, lock: RowLock): Promise<RoomAccess | undefined> {
  const room = await findRoom(db, id, lock);
  if (!room) return undefined;
  const isMember = (await findMemberships(db, viewer.user.id, [id])).has(id);
  const isSeen = await maySeeRoom(
    () => viewer,
    room,
    async () => isMember,
  );
  return isSeen ? { room, isMember } : undefined;
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
