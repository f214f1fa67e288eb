import { setImmediate as nextTurn } from 'node:timers/promises';
import { findApiKeysOf, revokeApiKeysOf } from '../data/api-keys.ts';
import type { Db } from '../data/database.ts';
import { clearActor, type NewPlainEvent } from '../data/events.ts';
import { createPage, isPageLength } from '../data/pages.ts';
import { deletePostsOfAuthor, findDrafts } from '../data/posts.ts';
import { clearRoomOwner, deleteMember, lockRoomsOfUser } from '../data/rooms.ts';
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
/** The number of events that are written before the event loop serves other requests. */
const eventsPerTurn = 50;

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
  const { owned, joined } = await lockRoomsOfUser(db, user.id);
  const posts = await deletePostsOfAuthor(db, user.id, deletePosts);
  await clearActor(db, user.id);
  const events: NewPlainEvent<void>[] = [
    ...posts.map(({ roomId, id, version }) => ({ ...eventOf('PostDeleted', roomId, id, version), store: nothing })),
    ...joined.map((roomId) => ({
      ...eventOf('MemberLeft', roomId, user.id, user.version),
      store: (db: Db) => deleteMember(db, roomId, user.id),
    })),
    ...owned.map((room) => ({
      ...eventOf('RoomUpdated', room.id, room.id, room.version + 1),
      store: (db: Db) => clearRoomOwner(db, room),
    })),
  ];
  for (let from = 0; from < events.length; from += eventsPerTurn) {
    await Promise.all(events.slice(from, from + eventsPerTurn).map((event) => append(event)));
    await nextTurn();
  }
}

function eventOf<Type extends NewPlainEvent<void>['type']>(
  type: Type,
  roomId: string,
  subjectId: string,
  version: number,
) {
  return { type, roomId, subjectId, version, actorId: null };
}

/** The rows were changed before. */
async function nothing(): Promise<void> {}
