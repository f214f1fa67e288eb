import type { ApiKeyRow, PostRow, RoomRow, UserRow } from '../data/tables.ts';
import type { VisibleRooms } from '../data/visible-rooms.ts';
import { ClientError } from '../errors.ts';
import { isKeyAlive } from './application.ts';
import { isSessionAlive } from './session/session.ts';
import type { Scope, Viewer } from './viewer.ts';

/* Who may do what: each rule a sentence. */

/** Whoever changes anything is signed in. */
export function assertSignedIn(viewer: Viewer | null): Viewer {
  if (!viewer) throw new ClientError('UNAUTHENTICATED', 'Sign in first.');
  return viewer;
}

/** Where the operator says so, nothing is done for one without credentials, but to sign up and in. */
export function assertMayCome(viewer: Viewer | null, isSigningIn: boolean): void {
  if (!viewer && !isSigningIn) throw new ClientError('UNAUTHENTICATED', 'Sign in first.');
}

/** Credentials are used for what their scopes name: queries and subscriptions need READ, mutations WRITE. */
export function assertScope(viewer: Viewer | null, scope: Scope): void {
  if (viewer && !viewer.scopes.has(scope)) throw lackOf(scope);
}

export function lackOf(scope: Scope): ClientError {
  return new ClientError('FORBIDDEN', `The credentials lack the scope ${scope}.`, { scope });
}

/** A stream goes on by fresh credentials where they have what it began with: READ and, where it was an admin's, ADMIN. */
export function findLostScope(viewer: Viewer | null, begunBy: Viewer | null): Scope | undefined {
  if (viewer && !viewer.scopes.has('READ')) return 'READ';
  return isAdmin(begunBy) && !isAdmin(viewer) ? 'ADMIN' : undefined;
}

/** Whose account is gone, or whose session a new password has ended, is signed in no longer. */
export function assertLiving(viewer: Viewer, user: UserRow | undefined): UserRow {
  if (!user || user.deletedAt !== null) throw new ClientError('UNAUTHENTICATED', 'The account is gone.');
  if (!isSessionAlive(viewer, user)) throw new ClientError('UNAUTHENTICATED', 'The session has ended.');
  return user;
}

/** An application whose key was revoked, or has ended, is signed in no longer. */
export function assertKeyLiving(key: ApiKeyRow | undefined): void {
  if (!key || !isKeyAlive(key)) throw new ClientError('UNAUTHENTICATED', 'The API key has ended.');
}

/** An admin is one by role, and by the scope of the credentials. */
export function isAdmin(viewer: Viewer | null): boolean {
  return viewer?.user.role === 'ADMIN' && viewer.scopes.has('ADMIN');
}

/** One sees public rooms, and private ones as a member; an admin sees every room. */
export function visibleRoomsOf(viewer: Viewer | null): VisibleRooms {
  return { userId: viewer?.user.id ?? null, seesAll: isAdmin(viewer) };
}

/** A private room, and all that is in it, does not exist for one who is no member. */
export async function maySeeRoom(
  viewer: () => Viewer | null,
  room: RoomRow,
  isMember: (userId: string, roomId: string) => Promise<boolean>,
): Promise<boolean> {
  if (room.visibility === 'PUBLIC') return true;
  const reader = viewer();
  return reader !== null && (isAdmin(reader) || isMember(reader.user.id, room.id));
}

/** An e-mail is shown to its owner and to admins. */
export function maySeeEmail(viewer: Viewer | null, user: UserRow): boolean {
  return viewer?.user.id === user.id || isAdmin(viewer);
}

/** Drafts and keys are listed for whose they are alone. */
export function maySeeOwn(viewer: Viewer | null, user: UserRow): boolean {
  return viewer?.user.id === user.id;
}

/** A draft is reached by its author alone; for anyone else it does not exist. */
export function maySeePost(viewer: () => Viewer | null, post: PostRow): boolean {
  return post.publishedAt !== null || viewer()?.user.id === post.authorId;
}

/** Only users themselves change their account. */
export function assertMayChangeUser(viewer: Viewer, user: UserRow | undefined): UserRow {
  const seen = assertUser(user);
  if (seen.id !== viewer.user.id) throw new ClientError('FORBIDDEN', 'Only users themselves change their account.');
  return seen;
}

/** Only users themselves, and admins, delete an account. */
export function assertMayDeleteUser(viewer: Viewer, user: UserRow | undefined): UserRow {
  const seen = assertUser(user);
  if (seen.id !== viewer.user.id && !isAdmin(viewer)) {
    throw new ClientError('FORBIDDEN', 'Only users themselves delete their account.');
  }
  return seen;
}

/** What is done to a user is done to one who is there. */
export function assertUser(user: UserRow | undefined): UserRow {
  if (!user || user.deletedAt !== null) throw new ClientError('NOT_FOUND', 'There is no such user.');
  return user;
}

/** Only owners, and admins, change a room and its members. */
export function assertMayChangeRoom(viewer: Viewer, room: RoomRow): void {
  if (room.ownerId !== viewer.user.id && !isAdmin(viewer)) {
    throw new ClientError('FORBIDDEN', 'Only its owner changes a room.');
  }
}

/** Whoever is signed in posts in a public room, only members in a private one. */
export function assertMayPost(room: RoomRow, isMember: boolean): void {
  if (room.visibility === 'PRIVATE' && !isMember)
    throw new ClientError('FORBIDDEN', 'Only members post in a private room.');
}

/** One joins a public room by oneself, a private one by its owner. */
export function assertMayJoin(room: RoomRow, isMember: boolean): void {
  if (room.visibility === 'PRIVATE' && !isMember)
    throw new ClientError('FORBIDDEN', 'Its owner adds members to a private room.');
}

/** An owner stays in the room. */
export function assertMayLeave(userId: string, room: RoomRow): void {
  if (room.ownerId === userId) throw new ClientError('CONFLICT', 'Its owner does not leave a room: delete it instead.');
}

/** Only authors change their posts. */
export function assertMayChangePost(viewer: Viewer, post: PostRow): void {
  if (post.authorId !== viewer.user.id) throw new ClientError('FORBIDDEN', 'Only its author changes a post.');
}

/** Only authors, and admins, delete a post. */
export function assertMayDeletePost(viewer: Viewer, post: PostRow): void {
  if (post.authorId !== viewer.user.id && !isAdmin(viewer)) {
    throw new ClientError('FORBIDDEN', 'Only its author deletes a post.');
  }
}

/** Only people make keys, which would else outlive their own; a key has at most the rights of who makes it: ADMIN comes from an admin. */
export function assertMayGrant(viewer: Viewer, granted: readonly Scope[]): void {
  if (viewer.credential.kind === 'apiKey') throw new ClientError('FORBIDDEN', 'A key makes no keys.');
  if (granted.includes('ADMIN') && !isAdmin(viewer))
    throw new ClientError('FORBIDDEN', 'Only an admin makes a key with ADMIN.');
  for (const scope of granted) assertScope(viewer, scope);
}

/** Only who made a key, and admins, revoke it; for anyone else it does not exist. */
export function assertMayRevoke(viewer: Viewer, key: ApiKeyRow | undefined): ApiKeyRow {
  if (!key || (key.ownerId !== viewer.user.id && !isAdmin(viewer)))
    throw new ClientError('NOT_FOUND', 'There is no such key.');
  return key;
}
