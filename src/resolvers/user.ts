import { findApiKeysOf, revokeApiKeysOf } from '../data/api-keys.ts';
import type { Db } from '../data/database.ts';
import { clearActor } from '../data/events.ts';
import { createPage, isPageLength } from '../data/pages.ts';
import { deletePostsOfAuthor, findDrafts } from '../data/posts.ts';
import { clearRoomOwner, deleteMember, findRoomsOfMember } from '../data/rooms.ts';
import type { PublicUser, UserRow } from '../data/tables.ts';
import { eraseUser, findAccount, findUserPage, updateUser } from '../data/users.ts';
import { invalidInput } from '../errors.ts';
import { assertMayChangeUser, assertMayDeleteUser, maySeeEmail, maySeeOwn } from '../identity/access.ts';
import { maxApiKeys } from '../identity/api-key/api-key.ts';
import type { ChangeRecord } from '../live/changes.ts';
import type { Context } from './context.ts';
import type { MutationResolvers, QueryResolvers, UpdateUserInput, UserResolvers } from './resolver-types.generated.ts';
import { changeAccount, isEmpty } from './rules/changes.ts';
import { assertVersion, refuseDuplicate } from './rules/conflicts.ts';
import { toUser } from './rules/rows.ts';
import { email, InputCheck, name } from './rules/validation.ts';

const defaultLast = 10;

export const User: UserResolvers = {
  email: (user, _, context) =>
    maySeeEmail(context.viewerFor(user), user) ? context.loaders.email.load(user.id) : null,
  posts(user, { last }, { loaders }) {
    const length = last ?? defaultLast;
    if (!isPageLength(length)) throw invalidInput([{ field: 'last', issue: 'out_of_range' }]);
    return loaders.lastPosts(user.id, length);
  },
  drafts: (user, page, context) =>
    maySeeOwn(context.viewerFor(user), user) ? findDrafts(context.db, context, user.id, page) : createPage(null, page),
  apiKeys: (user, _, { db, viewer }) => (maySeeOwn(viewer, user) ? findApiKeysOf(db, user.id, maxApiKeys) : []),
};

export const userQueries: QueryResolvers = {
  // Read again, because on a socket the viewer was read when the socket was opened.
  viewer: (_, __, { viewer, loaders }) => viewer && loaders.user.load(viewer.user.id),
  user: (_, { id }, { loaders }) => loaders.user.load(id),
  users: (_, { filter, ...page }, { db }) => findUserPage(db, filter ?? {}, page),
};

export const userMutations: MutationResolvers = {
  updateUser: (_, { input }, context) => changeUser(context, input),
  replaceUser: (_, { input }, context) => changeUser(context, { ...input, email: input.email ?? null }),
  async deleteUser(_, { input: { id, deletePosts } }, context) {
    const user = await changeAccount(context, async (db, record, viewer) => {
      const user = assertMayDeleteUser(viewer, await findAccount(db, id, 'exclusive'));
      // Announced first, so that the user's own streams do not receive the events that follow.
      record.announce({ type: 'userDeleted', userId: id });
      for (const keyId of await revokeApiKeysOf(db, id)) record.announce({ type: 'keyRevoked', keyId });
      await removeUserFromRooms(db, record, user, deletePosts ?? false);
      await eraseUser(db, user);
      record.afterCommit(() => context.services.audit({ event: 'accountDeleted', userId: id }));
      return user;
    });
    await context.services.database.purge();
    return { user: toUser(user, context) };
  },
};

async function changeUser(context: Context, input: UpdateUserInput): Promise<{ user: PublicUser }> {
  const user = await refuseDuplicate('This e-mail is taken.', () =>
    changeAccount(context, async (db, _, viewer) => {
      const user = assertMayChangeUser(viewer, await findAccount(db, input.id));
      assertUserInput(user, input);
      assertVersion(user, input.expectedVersion);
      const changes = { name: input.name ?? undefined, email: input.email };
      return isEmpty(changes) ? user : await updateUser(db, user, changes);
    }),
  );
  return { user: toUser(user, context) };
}

function assertUserInput(user: UserRow, input: UpdateUserInput): void {
  const check = new InputCheck();
  check.given('name', input.name, name);
  check.optional('email', input.email, email);
  if (input.email === null && user.passwordHash !== null) check.add('email', 'required');
  check.assertValid();
}

/** Removes the user from every room. The resulting events have no actor. */
async function removeUserFromRooms(
  db: Db,
  { append }: ChangeRecord,
  user: UserRow,
  deletePosts: boolean,
): Promise<void> {
  for (const post of await deletePostsOfAuthor(db, user.id, deletePosts)) {
    await append({
      roomId: post.roomId,
      type: 'PostDeleted',
      subjectId: post.id,
      version: post.version,
      actorId: null,
    });
  }
  for (const roomId of await findRoomsOfMember(db, user.id)) {
    await deleteMember(db, roomId, user.id);
    await append({ roomId, type: 'MemberLeft', subjectId: user.id, version: user.version, actorId: null });
  }
  for (const room of await clearRoomOwner(db, user.id)) {
    await append({ roomId: room.id, type: 'RoomUpdated', subjectId: room.id, version: room.version, actorId: null });
  }
  await clearActor(db, user.id);
}
