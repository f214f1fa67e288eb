import type { NewRoomEvent } from '../data/events.ts';
import { findRoomPosts } from '../data/posts.ts';
import {
  deleteMember,
  deleteRoom,
  findMembers,
  findRoom,
  findRoomByName,
  findRoomPage,
  insertMember,
  insertRoom,
  updateRoom,
} from '../data/rooms.ts';
import type { RoomRow, UserRow } from '../data/tables.ts';
import type { Context } from '../engine/context.ts';
import { assertMayChangeRoom, assertMayLeave, assertRoom } from '../identity/access.ts';
import { changeAsViewer, isEmpty } from './changes.ts';
import { assertUpdated, assertVersion, refuseDuplicate } from './conflicts.ts';
import type { MutationResolvers, QueryResolvers, RoomResolvers, UpdateRoomInput } from './resolver-types.generated.ts';
import { InputCheck, name } from './validation.ts';

const nameTaken = 'A room of this name exists.';

export const Room: RoomResolvers = {
  owner: (room, _, { loaders }) => (room.ownerId === null ? null : loaders.user.load(room.ownerId)),
  cursor: (room, _, context) => context.cursorOf(room.id, room.head),
  members: (room, args, { db }) => findMembers(db, room.id, args),
  posts: (room, args, { db }) => findRoomPosts(db, room.id, args),
};

export const roomQueries: QueryResolvers = {
  room: (_, { id }, { loaders }) => loaders.room.load(id),
  roomByName: (_, { name }, { db }) => findRoomByName(db, name),
  rooms: (_, { filter, ...page }, { db }) => findRoomPage(db, filter ?? {}, page),
};

export const roomMutations: MutationResolvers = {
  async createRoom(_, { input }, context) {
    const room = await refuseDuplicate(context, nameTaken, () =>
      changeAsViewer(context, async (db, _, { user }) => {
        assertName(input);
        const room = await insertRoom(db, { name: input.name, ownerId: user.id });
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
      const room = assertMayChangeRoom(viewer, await findRoom(db, input.id));
      assertVersion(room, input.expectedVersion);
      await deleteRoom(db, room.id);
      announce({ type: 'roomDeleted', roomId: room.id });
      return room;
    });
    return { room };
  },
  async joinRoom(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { append }, { user }) => {
      const room = assertRoom(await findRoom(db, input.room));
      if (await insertMember(db, room.id, user.id)) await append(membershipOf('MemberJoined', room, user));
      return room;
    });
    return { room };
  },
  async leaveRoom(_, { input }, context) {
    const room = await changeAsViewer(context, async (db, { append }, viewer) => {
      const room = assertRoom(await findRoom(db, input.room));
      assertMayLeave(viewer, room);
      if (await deleteMember(db, room.id, viewer.user.id)) await append(membershipOf('MemberLeft', room, viewer.user));
      return room;
    });
    return { room };
  },
};

async function changeRoom(context: Context, input: UpdateRoomInput): Promise<{ room: RoomRow }> {
  const room = await refuseDuplicate(context, nameTaken, () =>
    changeAsViewer(context, async (db, { append }, viewer) => {
      const room = assertMayChangeRoom(viewer, await findRoom(db, input.id));
      assertName(input);
      assertVersion(room, input.expectedVersion);
      const changes = { name: input.name ?? undefined };
      if (isEmpty(changes)) return room;
      const changed = assertUpdated(await updateRoom(db, room, changes));
      const actorId = viewer.user.id;
      await append({ roomId: room.id, type: 'RoomUpdated', subjectId: room.id, version: changed.version, actorId });
      return changed;
    }),
  );
  return { room };
}

function assertName(input: { name?: string | null | undefined }): void {
  const check = new InputCheck();
  check.given('name', input.name, name);
  check.assertValid();
}

/** One joins and leaves by oneself: the member is the actor. */
function membershipOf(type: 'MemberJoined' | 'MemberLeft', room: RoomRow, { id, version }: UserRow): NewRoomEvent {
  return { roomId: room.id, type, subjectId: id, version, actorId: id };
}
