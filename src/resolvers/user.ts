import { eraseRows } from '../changes/deletions.ts';
import { toName } from '../common/names.ts';
import { findApiKeysOf, revokeApiKeysOf } from '../data/domain/api-keys.ts';
import { eraseUser } from '../data/domain/deletions.ts';
import { findJoinedRooms } from '../data/domain/memberships.ts';
import { emailKeyOf, findAccount, findUserPage, updateUser } from '../data/domain/users.ts';
import { createConnection, createEmptyPage, isPageLength } from '../data/lists/pages.ts';
import { findDrafts } from '../data/lists/post-lists.ts';
import type { PublicUser, UserRow } from '../data/tables.ts';
import { invalidInput } from '../errors.ts';
import type {
  MutationResolvers,
  QueryResolvers,
  UpdateUserInput,
  UserResolvers,
} from '../generated/resolver-types.generated.ts';
import {
  assertMayChangeUser,
  assertMayDeleteUser,
  assertSignedIn,
  maySeeEmail,
  maySeeOwn,
} from '../identity/access.ts';
import { maxApiKeys } from '../identity/api-key.ts';
import type { Context } from './context.ts';
import { changeAccount, findOwnAccountOrThrow, isEmpty } from './rules/changes.ts';
import { assertVersion, refuseDuplicate } from './rules/conflicts.ts';
import { assertInput, given, optional, problemIf } from './rules/input-check.ts';
import { toUser } from './rules/rows.ts';
import * as rules from './rules/validation.ts';

const defaultLast = 10;
/** The maximum number of rows of an account that are deleted with it. Further rows are deleted in the background. */
const maxRowsAtOnce = 50;

export const User = {
  email: (user, _, context) =>
    maySeeEmail(context.viewerFor(user), user) ? context.loaders.email.load(user.id) : null,
  posts(user, { last }, { loaders }) {
    const length = last ?? defaultLast;
    if (!isPageLength(length)) throw invalidInput([{ field: 'last', issue: 'out_of_range' }]);
    return loaders.lastPosts(user.id, length);
  },
  drafts: (user, page, context) =>
    maySeeOwn(context.viewerFor(user), user) ? findDrafts(context.db, context, user.id, page) : createEmptyPage(page),
  cursor: (user, _, context) => (maySeeOwn(context.viewerFor(user), user) ? context.cursorOfUser(user.id) : null),
  rooms: (user, args, context) =>
    maySeeOwn(context.viewerFor(user), user)
      ? findJoinedRooms(context.db, { userId: user.id }, args)
      : createConnection(async () => [], args),
  apiKeys: (user, _, { db, viewer }) => (maySeeOwn(viewer, user) ? findApiKeysOf(db, user.id, maxApiKeys) : []),
} satisfies UserResolvers;

export const userQueries = {
  // Read again, because on a socket the viewer was read when the socket was opened.
  viewer: (_, __, { viewer, loaders }) => viewer && loaders.user.load(viewer.user.id),
  user: (_, { id }, { loaders }) => loaders.user.load(id),
  users: (_, { filter, ...page }, { db }) => findUserPage(db, filter ?? {}, page),
} satisfies QueryResolvers;

export const userMutations = {
  updateUser: (_, { input }, context) => changeUser(context, input),
  replaceUser: (_, { input }, context) => changeUser(context, { ...input, email: input.email ?? null }),
  async deleteUser(_, { input: { id, deletePosts } }, context) {
    const user = await changeAccount(context, async (db, record, viewer, own) => {
      const user = assertMayDeleteUser(viewer, id === own.id ? own : await findAccount(db, id, 'exclusive'));
      // Announced first, so that the user's own streams do not receive the events that follow.
      record.announce({ type: 'userDeleted', userId: id });
      for (const keyId of await revokeApiKeysOf(db, id)) record.announce({ type: 'keyRevoked', keyId });
      const erasing = deletePosts ? 'POSTS' : 'ACCOUNT';
      await eraseUser(db, user, erasing);
      const step = { limit: maxRowsAtOnce, extensionTables: context.services.extensions.tables };
      const isDone = await eraseRows(db, record, { id, version: user.version, erasing }, step);
      if (!isDone) record.afterCommit(() => context.services.deletions.start());
      record.afterCommit(() => context.services.audit({ event: 'accountDeleted', userId: id }));
      return user;
    });
    await context.services.database.purge();
    return { user: toUser(user, context) };
  },
} satisfies MutationResolvers;

async function changeUser(context: Context, input: UpdateUserInput): Promise<{ user: PublicUser }> {
  await chargeNewEmail(context, input);
  const user = await refuseDuplicate('This e-mail is taken.', () =>
    changeAccount(context, async (db, _, viewer, own) => {
      const user = assertMayChangeUser(viewer, input.id === own.id ? own : await findAccount(db, input.id));
      assertUserInput(user, input);
      assertVersion(user, input.expectedVersion);
      const changes = { name: input.name == null ? undefined : toName(input.name), email: input.email };
      return isEmpty(changes) ? user : await updateUser(db, user, changes);
    }),
  );
  return { user: toUser(user, context) };
}

/** The answer to a change of the e-mail address tells whether it is taken, as that of signUp does. */
async function chargeNewEmail({ viewer, db, address, services }: Context, { email }: UpdateUserInput): Promise<void> {
  if (email == null || rules.email(email).length > 0) return;
  const { emailKey } = await findOwnAccountOrThrow(db, assertSignedIn(viewer));
  if (emailKeyOf(email) !== emailKey) await services.signInLimit.chargeAddress(address);
}

function assertUserInput(user: UserRow, input: UpdateUserInput): void {
  assertInput(
    given('name', input.name, rules.name),
    optional('email', input.email, rules.email),
    problemIf(input.email === null && user.passwordHash !== null, 'email', 'required'),
  );
}
