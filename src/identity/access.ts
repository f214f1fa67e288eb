import type { ViewerScope } from '../data/domain/visible-rooms.ts';
import type { ApiKeyRow, PostRow, PublicUser, RoomRow, UserRow } from '../data/tables.ts';
import { ClientError } from '../errors.ts';
import type { CredentialKind, Scope, Viewer } from './viewer.ts';

/* The rules of access, one function per rule. */

/** Every change, and with AUTH_REQUIRED every operation except signing up and signing in, needs credentials. */
export function assertSignedIn(viewer: Viewer | null): Viewer {
  if (viewer) return viewer;
  throw new ClientError('UNAUTHENTICATED', 'This operation requires credentials: sign in, or send an API key.');
}

/** Credentials need a scope for each operation: READ for queries and subscriptions, WRITE for mutations. */
export function assertScope(viewer: Viewer | null, scope: Scope): void {
  if (viewer && !viewer.scopes.has(scope)) throw missingScope(scope);
}

export function missingScope(scope: Scope): ClientError {
  return new ClientError('FORBIDDEN', `This operation requires credentials with the scope ${scope}.`, { scope });
}

/** A stream continues with new credentials only if they have READ and, if the stream was started by an admin, ADMIN. */
export function findLostScope(viewer: Viewer | null, startedBy: Viewer | null): Scope | undefined {
  if (viewer && !viewer.scopes.has('READ')) return 'READ';
  return isAdmin(startedBy) && !isAdmin(viewer) ? 'ADMIN' : undefined;
}

/** An admin has the role ADMIN, and credentials with the scope ADMIN. */
function isAdmin(viewer: Viewer | null): boolean {
  return viewer?.user.role === 'ADMIN' && viewer.scopes.has('ADMIN');
}

/** Admins operate the server: they see all connections, end them, and mute users. */
export function assertAdmin(viewer: Viewer | null): Viewer {
  const signedIn = assertSignedIn(viewer);
  if (!signedIn.scopes.has('ADMIN')) throw missingScope('ADMIN');
  if (signedIn.user.role !== 'ADMIN') throw forbidden('Only admins can do this.');
  return signedIn;
}

/** Public rooms are visible to everyone, private rooms to their members, and all rooms to admins. */
export function viewerScopeOf(viewer: Viewer | null): ViewerScope {
  return { userId: viewer?.user.id ?? null, seesAll: isAdmin(viewer) };
}

/** For a viewer who is not a member, a private room and its content do not exist. */
export async function maySeeRoom(
  viewer: () => Viewer | null,
  room: RoomRow,
  isMember: (userId: string, roomId: string) => boolean | Promise<boolean>,
): Promise<boolean> {
  if (room.visibility === 'PUBLIC') return true;
  const current = viewer();
  return current !== null && (isAdmin(current) || isMember(current.user.id, room.id));
}

/** An e-mail address is visible to its owner and to admins. */
export function maySeeEmail(viewer: Viewer | null, user: PublicUser): boolean {
  return viewer?.user.id === user.id || isAdmin(viewer);
}

/** Drafts and API keys are listed only for their owner. */
export function maySeeOwn(viewer: Viewer | null, user: PublicUser): boolean {
  return viewer?.user.id === user.id;
}

/** A draft is visible only to its author; for anyone else it does not exist. */
export function maySeePost(viewer: () => Viewer | null, post: PostRow): boolean {
  return post.publishedAt !== null || viewer()?.user.id === post.authorId;
}

/** Only the user can change their account. */
export function assertMayChangeUser(viewer: Viewer, user: UserRow | undefined): UserRow {
  const found = assertUser(user);
  if (found.id !== viewer.user.id) throw forbidden('You can change only your own account.');
  return found;
}

/** Only the user and admins can delete an account. */
export function assertMayDeleteUser(viewer: Viewer, user: UserRow | undefined): UserRow {
  const found = assertUser(user);
  if (found.id !== viewer.user.id && !isAdmin(viewer)) throw forbidden('You can delete only your own account.');
  return found;
}

/** The user must exist and must not be deleted. */
export function assertUser<User extends Pick<UserRow, 'deletedAt'>>(user: User | undefined): User {
  if (!user || user.deletedAt !== null) throw new ClientError('NOT_FOUND', 'There is no such user.');
  return user;
}

/** Only the owner and admins can change a room, its members and its invitations, and see the invitations. */
export function mayChangeRoom(viewer: Viewer | null, room: RoomRow): boolean {
  return viewer !== null && (room.ownerId === viewer.user.id || isAdmin(viewer));
}

export function assertMayChangeRoom(viewer: Viewer, room: RoomRow): void {
  if (!mayChangeRoom(viewer, room)) throw forbidden('Only the owner and admins can change a room.');
}

/** Every user who is signed in can post in a public room; only members can post in a private room. */
export function assertMayPost(room: RoomRow, isMember: boolean): void {
  if (room.visibility === 'PRIVATE' && !isMember) throw forbidden('Only members can post in a private room.');
}

/** A user who is muted in a room cannot write posts there. `until`: in milliseconds since 1970. */
export function assertNotMuted(until: number | null): void {
  if (until === null || until <= Date.now()) return;
  throw forbidden(`You are muted in this room until ${new Date(until).toISOString()}.`);
}

/** Only members have a read position in a room. */
export function assertMember(isMember: boolean): void {
  if (!isMember) throw forbidden('Only members of the room can do this.');
}

/** Users can join a public room themselves; the owner adds members to a private room. */
export function assertMayJoin(room: RoomRow, isMember: boolean): void {
  if (room.visibility === 'PRIVATE' && !isMember)
    throw forbidden('Only the owner and admins can add members to a private room.');
}

/** The owner cannot leave the room. */
export function assertMayLeave(userId: string, room: RoomRow): void {
  if (room.ownerId === userId)
    throw new ClientError('CONFLICT', 'The owner cannot leave a room; delete the room instead.');
}

/** Only the author can change a post. */
export function assertMayChangePost(viewer: Viewer, post: PostRow): void {
  if (post.authorId !== viewer.user.id) throw forbidden('Only the author can change a post.');
}

/** Only the author and admins can delete a post. */
export function assertMayDeletePost(viewer: Viewer, post: PostRow): void {
  if (post.authorId !== viewer.user.id && !isAdmin(viewer))
    throw forbidden('Only the author and admins can delete a post.');
}

/** An API key cannot create keys, because they would outlive it. */
const createsKeys: Record<CredentialKind, boolean> = { session: true, oauth: true, apiKey: false };

/** A new key has at most the rights of its creator; only an admin can create a key with ADMIN. */
export function assertMayGrant(viewer: Viewer, granted: readonly Scope[]): void {
  if (!createsKeys[viewer.credential.kind]) throw forbidden('An API key cannot create API keys.');
  if (granted.includes('ADMIN') && !isAdmin(viewer))
    throw forbidden('Only an admin can create a key with the scope ADMIN.');
  for (const scope of granted) assertScope(viewer, scope);
}

/** Only the creator of a key and admins can revoke it; for anyone else it does not exist. */
export function assertMayRevoke(viewer: Viewer, key: ApiKeyRow | undefined): ApiKeyRow {
  if (!key || (key.ownerId !== viewer.user.id && !isAdmin(viewer)))
    throw new ClientError('NOT_FOUND', 'There is no such API key.');
  return key;
}

function forbidden(message: string): ClientError {
  return new ClientError('FORBIDDEN', message);
}
