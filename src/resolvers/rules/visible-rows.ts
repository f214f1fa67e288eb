import type { Db, RowLock } from '../../data/database/database.ts';
import { findMute, isMemberOf, type MutedUsers } from '../../data/domain/memberships.ts';
import { findPost } from '../../data/domain/posts.ts';
import { findRoom, findRoomOfPost } from '../../data/domain/rooms.ts';
import type { PostRow, RoomRow } from '../../data/tables.ts';
import { ClientError } from '../../errors.ts';
import { maySeePost, maySeeRoom } from '../../identity/access.ts';
import { accountIdOf, type Viewer } from '../../identity/viewer.ts';
import type { Context } from '../context.ts';

/** A room, and what concerns the viewer in it. */
export interface RoomAccess {
  room: RoomRow;
  isMember: boolean;
  /** The time until which the viewer is muted, which may be in the past; null if there is none. */
  mutedUntil: number | null;
}

/** A post, and what concerns the viewer in its room. */
export interface PostAccess extends RoomAccess {
  post: PostRow;
}

/** Locks the room. The rest is read after the lock is held, although all statements are sent at once. */
export async function findRoomAccess(
  db: Db,
  viewer: Viewer,
  id: string,
  lock: RowLock,
): Promise<RoomAccess | undefined> {
  const [room, isMember, mutedUntil] = await Promise.all([
    findRoom(db, id, lock),
    isMemberOf(db, { roomId: id }, viewer.user.id),
    findMute(db, { roomId: id }, mutedUsersOf(viewer)),
  ]);
  return room && { room, isMember, mutedUntil };
}

/** Locks the post exclusively, after its room: the deletion of a room locks them in the same order. */
export async function findPostAccess(db: Db, viewer: Viewer, id: string): Promise<PostAccess | undefined> {
  const [room, isMember, mutedUntil, post] = await Promise.all([
    findRoomOfPost(db, id, 'share'),
    isMemberOf(db, { postId: id }, viewer.user.id),
    findMute(db, { postId: id }, mutedUsersOf(viewer)),
    findPost(db, id, 'exclusive'),
  ]);
  return room && post && { post, room, isMember, mutedUntil };
}

/** Anybody can create API keys, so a mute of their owner applies to them. */
export function mutedUsersOf(viewer: Viewer): MutedUsers {
  return { userId: viewer.user.id, accountId: accountIdOf(viewer) };
}

/** @throws ClientError NOT_FOUND if there is no such room, or it is not visible to the viewer. */
export async function assertVisibleRoom(viewer: Viewer, access: RoomAccess | undefined): Promise<RoomAccess> {
  if (access && (await isVisible(viewer, access))) return access;
  throw noSuchRoom();
}

/** @throws ClientError NOT_FOUND if there is no such post, or it is not visible to the viewer. */
export async function assertVisiblePost(viewer: Viewer, found: PostAccess | undefined): Promise<PostAccess> {
  if (found && maySeePost(() => viewer, found.post) && (await isVisible(viewer, found))) return found;
  throw new ClientError('NOT_FOUND', 'There is no such post.');
}

function isVisible(viewer: Viewer, { room, isMember }: RoomAccess): Promise<boolean> {
  const lookUp = () => isMember;
  return maySeeRoom(() => viewer, room, lookUp);
}

export async function findVisibleRoom(id: string, context: Context): Promise<RoomRow | undefined> {
  const room = await context.loaders.room.load(id);
  return room && (await maySeeRoom(() => context.viewer, room, context.loaders.isMember)) ? room : undefined;
}

/** @throws ClientError NOT_FOUND if there is no such room, or it is not visible to the viewer. */
export async function findVisibleRoomOrThrow(id: string, context: Context): Promise<RoomRow> {
  const room = await findVisibleRoom(id, context);
  if (!room) throw noSuchRoom();
  return room;
}

export async function findVisiblePost(id: string, context: Context): Promise<PostRow | undefined> {
  const post = await context.loaders.post.load(id);
  if (!post || !maySeePost(() => context.viewer, post)) return undefined;
  return (await findVisibleRoom(post.roomId, context)) ? post : undefined;
}

/** The user, room or post with this id, or the row of an extension. */
export async function findVisibleNode(id: string, context: Context): Promise<{ id: string } | undefined> {
  const node = context.services.extensions.ofId(id);
  if (node?.type === 'User') return context.loaders.user.load(id);
  if (node?.type === 'Room') return findVisibleRoom(id, context);
  if (node?.type === 'Post') return findVisiblePost(id, context);
  const row = node && 'find' in node ? await context.loaders.by(node.find, id) : undefined;
  return row && (await findVisibleRoom(row.roomId, context)) ? row : undefined;
}

/** The same error for a room that is hidden from the viewer: it must not reveal that the room exists. */
function noSuchRoom(): ClientError {
  return new ClientError('NOT_FOUND', 'There is no such room.');
}
