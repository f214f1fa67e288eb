import { toComposed, toName } from '../common/names.ts';
import { type Db, UniqueViolation } from '../data/database/database.ts';
import { deleteRoom } from '../data/domain/deletions.ts';
import { findInvitations } from '../data/domain/invitations.ts';
import {
  findMembers,
  findMembersAmong,
  hasMemberships,
  isMemberOf,
  membershipEvent,
} from '../data/domain/memberships.ts';
import { advanceReadPosition, findLatestTime, findPostTime } from '../data/domain/read-positions.ts';
import { createRoomRow, findDirectRoom, insertDirectRoom, insertRoom, updateRoom } from '../data/domain/rooms.ts';
import { findUser } from '../data/domain/users.ts';
import { appendRoomRead } from '../data/event-log/user-events.ts';
import { findRoomPosts } from '../data/lists/post-lists.ts';
import { findRoomByName, findRoomPage } from '../data/lists/room-lists.ts';
import type { RoomRow } from '../data/tables.ts';
import { ClientError, invalidInput } from '../errors.ts';
import type {
  MutationResolvers,
  QueryResolvers,
  RoomResolvers,
  UpdateRoomInput,
} from '../generated/resolver-types.generated.ts';
import {
  assertMayChangeRoom,
  assertMayJoin,
  assertMayLeave,
  assertMember,
  assertUser,
  mayChangeRoom,
} from '../identity/access.ts';
import { maxInboxRooms } from '../live/inbox/inbox-request.ts';
import { joinPresence } from '../live/presence/presence-state.ts';
import type { Context } from './context.ts';
import { maxInvitations } from './invitation.ts';
import { changeAfterReads, changeAsViewer, changeInRoom, isEmpty } from './rules/changes.ts';
import { assertVersion, refuseDuplicate } from './rules/conflicts.ts';
import { assertInput, given, problemIf } from './rules/input-check.ts';
import { findLivingUser, isClosed } from './rules/rows.ts';
import * as rules from './rules/validation.ts';
import { findVisibleRoom } from './rules/visible-rows.ts';

/** The maximum number of rows of a room that are deleted with it. Further rows are deleted in the background. */
const maxRowsAtOnce = 100;

/**
 * The maximum number of rooms of a user to whom others add a room. The rest of the rooms of an inbox is left to the user:
 * otherwise anybody could end the user's inbox.
 */
const maxRoomsByOthers = maxInboxRooms - 100;

const nameTaken = 'A room of this name exists.';
const tooManyRooms = `The user is a member of ${maxRoomsByOthers} rooms: only the user can join more.`;

export const Room = {
  owner: (room, _, { loaders }) => (room.ownerId === null ? null : findLivingUser(loaders, room.ownerId)),
  async directUser(room, _, { viewer, loaders }) {
    const id = viewer && (await loaders.directUser(viewer.user.id, contentIdOf(room)));
    return id ? findLivingUser(loaders, id) : null;
  },
  async viewerRole(room, _, { viewer, loaders }) {
    if (!viewer) return null;
    if (room.ownerId === viewer.user.id) return 'OWNER';
    return (await loaders.isMember(viewer.user.id, room.id)) ? 'MEMBER' : null;
  },
  invitations: (room, _, { viewer, db }) =>
    mayChangeRoom(viewer, room) ? findInvitations(db, room.id, maxInvitations) : null,
  cursor: (room, _, context) => context.cursorOf(room),
  unread: async (room, _, { viewer, loaders }) => (viewer && (await loaders.unread(viewer.user.id, room.id))) ?? null,
  lastRead: async (room, _, { viewer, loaders }) =>
    (viewer && (await loaders.readUpTo(viewer.user.id, room.id))) ?? null,
  presence: (room, _, { services }) => (isClosed(room) ? joinPresence(room.id, []) : services.presence.read(room.id)),
  members: (room, args, { db }) => findMembers(db, { roomId: contentIdOf(room) }, args),
  posts: (room, args, { db, readsBodies }) => findRoomPosts(db, { readsBodies, roomId: contentIdOf(room) }, args),
} satisfies RoomResolvers;

export const roomQueries = {
  room: (_, { id }, context) => findVisibleRoom(id, context),
  roomByName: (_, { name }, { db, viewerScope }) => findRoomByName(db, viewerScope, toComposed(name)),
  rooms: (_, { filter, ...page }, { db, viewerScope }) => findRoomPage(db, viewerScope, filter ?? {}, page),
} satisfies QueryResolvers;

export const roomMutations = {
  createRoom: (_, { input }, context) =>
    refuseDuplicate(nameTaken, () =>
      changeAsViewer(context, async (db, { write, append }, viewer) => {
        assertRoomInput(input);
        const name = toName(input.name);
        const id = context.idempotency?.resultId;
        const row = createRoomRow({ id, name, visibility: input.visibility ?? 'PUBLIC', ownerId: viewer.user.id });
        const room = write(insertRoom(db, row));
        append(membershipEvent('MemberJoined', row, viewer.user, viewer.user.id));
        return { room };
      }),
    ),
  updateRoom: (_, { input }, context) => changeRoom(context, input),
  replaceRoom: (_, { input }, context) => changeRoom(context, input),
  markRead: (_, { input: { room: id, post } }, context) =>
    // It does not change the room's row, so it need not wait for those who do.
    changeInRoom(
      context,
      { id, sharesCommit: false },
      async (db, { announce, write }, { user }, { room, isMember }) => {
        assertMember(isMember);
        const readUpTo = await (post == null ? findLatestTime(db, room.id) : findPostTime(db, room.id, post));
        if (readUpTo === undefined) throw invalidInput([{ field: 'post', issue: 'invalid' }]);
        const position = { roomId: room.id, userId: user.id, readUpTo };
        if (await advanceReadPosition(db, position)) {
          write(appendRoomRead(db, user.id, room.id));
          announce({ type: 'roomRead', ...position });
        }
        return { room };
      },
    ),
  deleteRoom: (_, { input: { id, expectedVersion } }, context) =>
    changeInRoom(context, { id, lock: 'exclusive' }, async (db, { announce, afterCommit }, viewer, { room }) => {
      assertMayChangeRoom(viewer, room);
      assertVersion(room, expectedVersion);
      const { tables: extensionTables } = context.services.extensions;
      const isDone = await deleteRoom(db, room.id, { limit: maxRowsAtOnce, extensionTables });
      if (!isDone) afterCommit(() => context.services.deletions.start());
      announce({ type: 'roomDeleted', roomId: room.id, actorId: viewer.user.id });
      return { room };
    }),
  joinRoom: (_, { input }, context) =>
    changeInRoom(
      context,
      { id: input.room, memberId: context.viewer?.user.id },
      async (_, { append }, viewer, { room, isMember }) => {
        assertMayJoin(room, isMember);
        if (!isMember) append(membershipEvent('MemberJoined', room, viewer.user, viewer.user.id));
        return { room };
      },
    ),
  leaveRoom: (_, { input }, context) =>
    changeInRoom(context, { id: input.room, lock: 'exclusive' }, async (_, { append }, viewer, { room, isMember }) => {
      assertMayLeave(viewer.user.id, room);
      if (isMember) append(membershipEvent('MemberLeft', room, viewer.user, viewer.user.id));
      return { room };
    }),
  openDirectRoom: (_, { input }, context) => openDirectRoom(context, input.user),
  addRoomMember: (_, { input }, context) =>
    changeInRoom(
      context,
      { id: input.room, memberId: input.user },
      async (db, { append, afterCommit }, viewer, { room }) => {
        assertMayChangeRoom(viewer, room);
        const [user, isMember] = await Promise.all([
          findUser(db, input.user, 'share').then(assertUser),
          isMemberOf(db, { roomId: room.id }, input.user),
        ]);
        if (!isMember && user.id !== viewer.user.id) await assertMayBeAdded(db, user.id);
        if (!isMember) append(membershipEvent('MemberJoined', room, user, viewer.user.id));
        const byUserId = viewer.user.id;
        afterCommit(() => context.services.audit({ event: 'memberAdded', roomId: room.id, userId: user.id, byUserId }));
        return { room };
      },
    ),
  removeRoomMember: (_, { input: { room: id, user: userId } }, context) =>
    changeInRoom(context, { id, lock: 'exclusive' }, async (db, { append, afterCommit }, viewer, { room }) => {
      assertMayChangeRoom(viewer, room);
      const [user, isMember] = await Promise.all([
        findUser(db, userId).then(assertUser),
        isMemberOf(db, { roomId: room.id }, userId),
      ]);
      assertMayLeave(user.id, room);
      if (isMember) append(membershipEvent('MemberLeft', room, user, viewer.user.id));
      const byUserId = viewer.user.id;
      afterCommit(() => context.services.audit({ event: 'memberRemoved', roomId: room.id, userId: user.id, byUserId }));
      return { room };
    }),
} satisfies MutationResolvers;

/** Without the names of its users, which may change, and are erased with their accounts. */
const directRoom = { name: 'direct room', visibility: 'PRIVATE' } as const;

async function openDirectRoom(context: Context, otherId: string): Promise<{ room: RoomRow }> {
  const pair = [context.viewer?.user.id, otherId].sort().join(' ');
  const row = (db: Db) => Promise.all([findDirectRoom(db, pair, 'share'), findUser(db, otherId, 'share')]);
  const open = () =>
    changeAfterReads(
      context,
      { account: 'share', row },
      async (db, { append, afterCommit }, { user: viewer }, [present, found]) => {
        const other = assertUser(found);
        if (other.id === viewer.id) throw invalidInput([{ field: 'user', issue: 'invalid' }]);
        const [room, members] = present
          ? [present, (await findMembersAmong(db, present.id, [viewer.id, other.id])).members]
          : [await insertDirectRoom(db, pair, createRoomRow(directRoom)), new Set<string | null>()];
        if (!members.has(other.id)) await assertMayBeAdded(db, other.id);
        for (const user of [viewer, other])
          if (!members.has(user.id)) append(membershipEvent('MemberJoined', room, user, viewer.id));
        const added = { event: 'memberAdded', roomId: room.id, userId: other.id, byUserId: viewer.id } as const;
        if (!members.has(other.id)) afterCommit(() => context.services.audit(added));
        return { room };
      },
    );
  return open().catch((error: unknown) => {
    // Both have opened it at the same time: the one that fails runs again, and finds the room or the membership.
    if (error instanceof UniqueViolation) return open();
    throw error;
  });
}

/** @throws ClientError FORBIDDEN if the user is a member of so many rooms that only the user may join more. */
async function assertMayBeAdded(db: Db, userId: string): Promise<void> {
  if (await hasMemberships(db, userId, maxRoomsByOthers)) throw new ClientError('FORBIDDEN', tooManyRooms);
}

function changeRoom(context: Context, input: UpdateRoomInput): Promise<{ room: RoomRow | Promise<RoomRow> }> {
  return refuseDuplicate(nameTaken, () =>
    changeInRoom(context, { id: input.id, lock: 'exclusive' }, async (_, { append }, viewer, { room }) => {
      assertMayChangeRoom(viewer, room);
      assertRoomInput(input);
      assertVersion(room, input.expectedVersion);
      const changes = {
        name: input.name == null ? undefined : toName(input.name),
        visibility: input.visibility ?? undefined,
      };
      if (isEmpty(changes)) return { room };
      const { id } = room;
      const version = room.version + 1;
      const store = (db: Db) => updateRoom(db, room, changes);
      const actorId = viewer.user.id;
      return { room: append({ roomId: id, type: 'RoomUpdated', subjectId: id, version, actorId, store }) };
    }),
  );
}

/** The room whose posts and members are read: for a closed room none has this id. */
function contentIdOf(room: RoomRow): string {
  return isClosed(room) ? '' : room.id;
}

function assertRoomInput(input: { name?: string | null | undefined; visibility?: unknown }): void {
  assertInput(given('name', input.name, rules.name), problemIf(input.visibility === null, 'visibility', 'required'));
}
