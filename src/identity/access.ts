import type { PostRow, RoomRow, UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import type { Viewer } from './viewer.ts';

/* Who may do what: each rule a sentence. */

/** Whoever changes anything is signed in. */
export function assertSignedIn(viewer: Viewer | null): Viewer {
  if (!viewer) throw new ClientError('UNAUTHENTICATED', 'Sign in first.');
  return viewer;
}

/** Whose account is gone is signed in no longer. */
export function assertLiving(user: UserRow | undefined): UserRow {
  if (!user || user.deletedAt !== null) throw new ClientError('UNAUTHENTICATED', 'The account is gone.');
  return user;
}

/** An e-mail is shown to its owner alone. */
export function maySeeEmail(viewer: Viewer | null, user: UserRow): boolean {
  return viewer?.user.id === user.id;
}

/** Drafts are listed for their author alone. */
export function maySeeDrafts(viewer: Viewer | null, user: UserRow): boolean {
  return viewer?.user.id === user.id;
}

/** A draft is reached by its author alone; for anyone else it does not exist. */
export function maySeePost(viewer: () => Viewer | null, post: PostRow): boolean {
  return post.publishedAt !== null || viewer()?.user.id === post.authorId;
}

/** Only users themselves change their account. */
export function assertMayChangeUser(viewer: Viewer, user: UserRow | undefined): UserRow {
  if (!user || user.deletedAt !== null) throw new ClientError('NOT_FOUND', 'There is no such user.');
  if (user.id !== viewer.user.id) throw new ClientError('FORBIDDEN', 'Only users themselves change their account.');
  return user;
}

/** Only owners change their room. */
export function assertMayChangeRoom(viewer: Viewer, room: RoomRow | undefined): RoomRow {
  const seen = assertRoom(room);
  if (seen.ownerId !== viewer.user.id) throw new ClientError('FORBIDDEN', 'Only its owner changes a room.');
  return seen;
}

/** Whoever is signed in joins, leaves and posts in a public room. */
export function assertRoom(room: RoomRow | undefined): RoomRow {
  if (!room) throw new ClientError('NOT_FOUND', 'There is no such room.');
  return room;
}

/** Owners do not leave their room. */
export function assertMayLeave(viewer: Viewer, room: RoomRow): void {
  if (room.ownerId === viewer.user.id)
    throw new ClientError('CONFLICT', 'Its owner does not leave a room: delete it instead.');
}

/** Only authors change their posts. */
export function assertMayChangePost(viewer: Viewer, post: PostRow | undefined): PostRow {
  if (!post || !maySeePost(() => viewer, post)) throw new ClientError('NOT_FOUND', 'There is no such post.');
  if (post.authorId !== viewer.user.id) throw new ClientError('FORBIDDEN', 'Only its author changes a post.');
  return post;
}
