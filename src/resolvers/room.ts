import { findNextTime, type NewRoomEvent } from '../data/events.ts';
import { findRoomPosts } from '../data/posts.ts';
import {
  deleteMember,
  deleteRoom,
  findMembers,
  findRoomByName,
  findRoomPage,
  insertMember,
  insertRoom,
  updateRoom,
} from '../data/rooms.ts';
import type { PublicUser, RoomRow } from '../data/tables.ts';
import { findUser } from '../data/users.ts';
import { assertMayChangeRoom, assertMayJoin, assertMayLeave, assertUser } from '../identity/access.ts';
import type { Viewer } from '../identity/viewer.ts';
import type { Context } from './context.ts';
import type { MutationResolvers, QueryResolvers, RoomResolvers, UpdateRoomInput } from './resolver-types.generated.ts';
import { changeAsViewer, isEmpty } from './rules/changes.ts';
import { assertVersion, refuseDuplicate } from './rules/conflicts.ts';
import { InputCheck, name } from './rules/validation.ts';
import { findRoomOrThrow, findVisibleRoom } from './rules/visible-rows.ts';

const nameTaken = 'A room of this name exists.';

export const Room: RoomResolvers = {
  owner: (room, _, { loaders }) => (room.ownerId === null ? null : loaders.user.load(room.ownerId)),
  async viewerRole(room, _, { viewer, loaders }) {
    if (!viewer) return null;
    if (room.ownerId === viewer.user.id) return 'OWNER';
    return (await loaders.isMember(viewer.user.id, room.id)) ? 'MEMBER' : null;
  },
  cursor: (room, _, context) => context.cursorOf(room),
  members: (room, args, { db }) => findMembers(db, room.id, args),
  posts: (room, args, context) => findRoomPosts(context.db, context, room.id, args),
};

export const roomQueries: QueryResolvers = {
  room: (_, { id }, context) => findVisibleRoom(id, context),
  roomByName: (_, { name }, { db, visibleRooms }) => findRoomByName(db, visibleRooms, name),
  rooms: (_, { filter, ...page }, { db, visibleRooms }) => findRoomPage(db, visibleRooms, filter ?? {}, page),
};

export const roomMutations: MutationResolvers = {
  async createRoom(_, { input }, context) {
    const room = await refuseDuplicate(nameTaken, () =>
      changeAsViewer(context, async (db, _, { user }) => {
        assertRoomInput(input);
        const room = await insertRoom(db, {
          name: input.name,
          visibility: input.visibility ?? 'PUBLIC',
          ownerId: user.id,
        });
        await insertMember(db, room.id, user.id);
        return room;
      }),
    );
    return { room };
  },
  updateRoom: (_, { input }, context) => changeRoom(context, input),
  replaceRoom: (_, { input }, context) => changeRoom(context, input),
  async deleteRoom(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { announce }, viewer) => {
      const { room } = await findRoomOrThrow(db, viewer, input.id, 'exclusive');
      assertMayChangeRoom(viewer, room);
      assertVersion(room, input.expectedVersion);
      await deleteRoom(db, room.id);
      announce({ type: 'roomDeleted', roomId: room.id });
      return room;
    });
    return { room };
  },
  async joinRoom(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { append }, viewer) => {
      const { room, isMember } = await findRoomOrThrow(db, viewer, input.room);
      assertMayJoin(room, isMember);
      const at = await findNextTime(db, room.id);
      if (await insertMember(db, room.id, viewer.user.id, at)) {
        await append({ ...membershipOf('MemberJoined', room, viewer.user, viewer), at });
      }
      return room;
    });
    return { room };
  },
  async leaveRoom(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { append }, viewer) => {
      const { room } = await findRoomOrThrow(db, viewer, input.room, 'exclusive');
      assertMayLeave(viewer.user.id, room);
      if (await deleteMember(db, room.id, viewer.user.id)) {
        await append(membershipOf('MemberLeft', room, viewer.user, viewer));
      }
      return room;
    });
    return { room };
  },
  async addRoomMember(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { append, afterCommit }, viewer) => {
      const { room } = await findRoomOrThrow(db, viewer, input.room);
      assertMayChangeRoom(viewer, room);
      const user = assertUser(await findUser(db, input.user, 'share'));
      const at = await findNextTime(db, room.id);
      if (await insertMember(db, room.id, user.id, at)) {
        await append({ ...membershipOf('MemberJoined', room, user, viewer), at });
      }
      const byUserId = viewer.user.id;
      afterCommit(() => context.services.audit({ event: 'memberAdded', roomId: room.id, userId: user.id, byUserId }));
      return room;
    });
    return { room };
  },
  async removeRoomMember(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { append, afterCommit }, viewer) => {
      const { room } = await findRoomOrThrow(db, viewer, input.room, 'exclusive');
      assertMayChangeRoom(viewer, room);
      const user = assertUser(await findUser(db, input.user));
      assertMayLeave(user.id, room);
      if (await deleteMember(db, room.id, user.id)) await append(membershipOf('MemberLeft', room, user, viewer));
      const byUserId = viewer.user.id;
      afterCommit(() => context.services.audit({ event: 'memberRemoved', roomId: room.id, userId: user.id, byUserId }));
      return room;
    });
    return { room };
  },
};

async function changeRoom(context: Context, input: UpdateRoomInput): Promise<{ room: RoomRow }> {
  const room = await refuseDuplicate(nameTaken, () =>
    changeAsViewer(context, async (db, { append }, viewer) => {
      const { room } = await findRoomOrThrow(db, viewer, input.id, 'exclusive');
      assertMayChangeRoom(viewer, room);
      assertRoomInput(input);
      assertVersion(room, input.expectedVersion);
      const changes = { name: input.name ?? undefined, visibility: input.visibility ?? undefined };
      if (isEmpty(changes)) return room;
      const changed = await updateRoom(db, room, changes);
      const actorId = viewer.user.id;
      await append({ roomId: room.id, type: 'RoomUpdated', subjectId: room.id, version: changed.version, actorId });
      return changed;
    }),
  );
  return { room };
}

function assertRoomInput(input: { name?: string | null | undefined; visibility?: unknown }): void {
  const check = new InputCheck();
  check.given('name', input.name, name);
  if (input.visibility === null) check.add('visibility', 'required');
  check.assertValid();
}

function membershipOf(
  type: 'MemberJoined' | 'MemberLeft',
  room: RoomRow,
  { id, version }: PublicUser,
  actor: Viewer,
): NewRoomEvent {
  return { roomId: room.id, type, subjectId: id, version, actorId: actor.user.id };
}
