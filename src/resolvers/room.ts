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
import type { RoomRow } from '../data/tables.ts';
import type { Context } from '../engine/context.ts';
import { assertMayChangeRoom, assertMayLeave, assertRoom, assertSignedIn } from '../identity/access.ts';
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
    const { user } = assertSignedIn(context.viewer);
    assertName(input);
    const room = await refuseDuplicate(context, nameTaken, () =>
      context.change(async (db) => {
        const room = await insertRoom(db, { name: input.name, ownerId: user.id });
        await insertMember(db, room.id, user.id);
        return room;
      }),
    );
    return { room };
  },
  updateRoom: (_, { input }, context) => changeRoom(context, input),
  replaceRoom: (_, { input }, context) => changeRoom(context, input),
  async deleteRoom(_, { input }, { viewer, change }) {
    const signedIn = assertSignedIn(viewer);
    const room = await change(async (db, { announce }) => {
      const room = assertMayChangeRoom(signedIn, await findRoom(db, input.id));
      assertVersion(room, input.expectedVersion);
      await deleteRoom(db, room.id);
      announce({ type: 'roomDeleted', roomId: room.id });
      return room;
    });
    return { room };
  },
  async joinRoom(_, { input }, { viewer, change }) {
    const { user } = assertSignedIn(viewer);
    const room = await change(async (db, { append }) => {
      const room = assertRoom(await findRoom(db, input.room));
      if (await insertMember(db, room.id, user.id)) {
        await append({
          roomId: room.id,
          type: 'MemberJoined',
          subjectId: user.id,
          version: user.version,
          actorId: user.id,
        });
      }
      return room;
    });
    return { room };
  },
  async leaveRoom(_, { input }, { viewer, change }) {
    const signedIn = assertSignedIn(viewer);
    const { user } = signedIn;
    const room = await change(async (db, { append }) => {
      const room = assertRoom(await findRoom(db, input.room));
      assertMayLeave(signedIn, room);
      if (await deleteMember(db, room.id, user.id)) {
        await append({
          roomId: room.id,
          type: 'MemberLeft',
          subjectId: user.id,
          version: user.version,
          actorId: user.id,
        });
      }
      return room;
    });
    return { room };
  },
};

async function changeRoom(context: Context, input: UpdateRoomInput): Promise<{ room: RoomRow }> {
  const signedIn = assertSignedIn(context.viewer);
  const room = await refuseDuplicate(context, nameTaken, () =>
    context.change(async (db, { append }) => {
      const room = assertMayChangeRoom(signedIn, await findRoom(db, input.id));
      assertName(input);
      assertVersion(room, input.expectedVersion);
      const changed = assertUpdated(await updateRoom(db, room, { ...(input.name != null && { name: input.name }) }));
      const actorId = signedIn.user.id;
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
