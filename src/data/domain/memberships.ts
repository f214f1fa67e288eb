import { type RawBuilder, sql } from 'kysely';
import { chunksOf } from '../../common/chunks.ts';
import type { Db } from '../database/database.ts';
import { type NewPlainEvent, timeOfAppended } from '../event-log/events.ts';
import { createConnectionFinder, encodeKey } from '../lists/pages.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement, createVariableStatement } from '../sql/statement.ts';
import { type PublicUser, publicUserColumns, type RoomRow, roomColumns } from '../tables.ts';
import { isRoomNotDeleted } from './visible-rooms.ts';

/** A user in a room. */
interface Membership {
  roomId: string;
  userId: string;
}

/*
 * Triggers write each row that is inserted or deleted into the log of its user, which stays locked until the end of the
 * transaction, after the room. A transaction of a group therefore names the user (see `TransactionOptions`).
 */

/**
 * Inserts a member with the time of the event that is being appended. @throws UniqueViolation if the user is a member
 * already.
 */
export const insertMember = createStatement((db, { roomId, userId }: Membership) =>
  db.insertInto('roomMembers').values({ roomId, userId, joinedAt: timeOfAppended(roomId) }),
);

/** Deletes a member whose account is deleted. Any other member is removed by `removeMember`. */
export const deleteMember = createStatement((db, { roomId, userId }: Membership) =>
  db.deleteFrom('roomMembers').where('roomId', '=', roomId).where('userId', '=', userId),
);

const insertFormerMember = createStatement((db, { roomId, userId }: Membership) =>
  db
    .insertInto('formerMembers')
    .values({ roomId, userId })
    .onConflict((conflict) => conflict.columns(['userId', 'roomId']).doNothing()),
);

/** Deletes a member, who remains known as a former one. */
async function removeMember(db: Db, member: Membership): Promise<void> {
  await Promise.all([deleteMember(db, member), insertFormerMember(db, member)]);
}

/** The event of a membership that begins or ends, with its change. */
export function membershipEvent(
  type: 'MemberJoined' | 'MemberLeft',
  room: RoomRow,
  { id, version }: Pick<PublicUser, 'id' | 'version'>,
  actorId: string,
): NewPlainEvent<unknown> {
  const change = type === 'MemberJoined' ? insertMember : removeMember;
  const store = (db: Db): Promise<unknown> => change(db, { roomId: room.id, userId: id });
  return { type, roomId: room.id, subjectId: id, version, actorId, store };
}

/** A room, or the room of a post, whose row need not have been read before. */
type RoomOrPost = { roomId: string } | { postId: string };

/** Its id, for a variable statement. */
function roomIdOf(place: RoomOrPost): RawBuilder<string> {
  if ('roomId' in place) return sql`${place.roomId}`;
  return sql`(select "roomId" from "posts" where "id" = ${place.postId})`;
}

const selectMember = createVariableStatement((db, { userId, ...place }: { userId: string } & RoomOrPost) =>
  db.selectFrom('roomMembers').select('roomId').where('userId', '=', userId).where('roomId', '=', roomIdOf(place)),
);

export async function isMemberOf(db: Db, place: RoomOrPost, userId: string): Promise<boolean> {
  return (await selectMember(db, { ...place, userId })).length > 0;
}

/** A user, and the account that the user belongs to: the owner of an API key is another user than the key. */
export interface MutedUsers {
  userId: string;
  accountId: string;
}

const selectMutes = createVariableStatement((db, { userId, accountId, ...place }: MutedUsers & RoomOrPost) =>
  db
    .selectFrom('mutes')
    .select('until')
    .where('roomId', '=', roomIdOf(place))
    .where('userId', 'in', [userId, accountId]),
);

/** The time until which either of the users is muted in the room, which may be in the past; null if there is none. */
export async function findMute(db: Db, place: RoomOrPost, users: MutedUsers): Promise<number | null> {
  const mutes = await selectMutes(db, { ...place, ...users });
  return mutes.length === 0 ? null : Math.max(...mutes.map(({ until }) => until));
}

/** Replaces an earlier mute of the user in the room. */
export async function insertMute(db: Db, mute: Membership & { until: number }): Promise<void> {
  await db
    .insertInto('mutes')
    .values(mute)
    .onConflict((conflict) => conflict.columns(['roomId', 'userId']).doUpdateSet({ until: mute.until }))
    .execute();
}

export async function deleteMute(db: Db, { roomId, userId }: Membership): Promise<void> {
  await db.deleteFrom('mutes').where('roomId', '=', roomId).where('userId', '=', userId).execute();
}

const selectMemberships = createStatement((db, { userId, limit }: { userId: string; limit: number }) =>
  db.selectFrom('roomMembers').select('roomId').where('userId', '=', userId).limit(limit),
);

/** Whether the user is a member of this many rooms. */
export async function hasMemberships(db: Db, userId: string, count: number): Promise<boolean> {
  return (await selectMemberships(db, { userId, limit: count })).length >= count;
}

const selectRoomAndMembers = createStatement((db, { roomId, userIds }: { roomId: string; userIds: string }) =>
  db
    .selectFrom('rooms')
    .leftJoin('roomMembers', (join) =>
      join.onRef('roomId', '=', 'rooms.id').on(dialectOf(db).isListed('roomMembers.userId', userIds)),
    )
    .select(['visibility', 'deletedAt', 'userId'])
    .where('rooms.id', '=', roomId),
);

/** The maximum number of users in one statement: with SQLite it blocks the event loop. */
const maxListed = 500;

/** The members of the room among `userIds`, and whether only members may see it, which is false for a deleted room. */
export async function findMembersAmong(db: Db, roomId: string, userIds: readonly (string | null)[]) {
  const rows: Awaited<ReturnType<typeof selectRoomAndMembers>> = [];
  for (const part of chunksOf(userIds, maxListed))
    rows.push(...(await selectRoomAndMembers(db, { roomId, userIds: JSON.stringify(part) })));
  const needsMembership = rows[0]?.visibility === 'PRIVATE' && rows[0].deletedAt === null;
  return { needsMembership, members: new Set(rows.map(({ userId }) => userId)) };
}

export const findMembers = createConnectionFinder(
  ['joinedAt', 'userId'],
  (db, { roomId }: { roomId: string }) =>
    db
      .selectFrom('roomMembers')
      .innerJoin('users', 'users.id', 'roomMembers.userId')
      .where(dialectOf(db).countsRows('roomMembers'))
      .select([...publicUserColumns, 'joinedAt'])
      .where('roomId', '=', roomId)
      .where(isRoomNotDeleted('roomMembers.roomId'))
      .where('users.deletedAt', 'is', null),
  ({ joinedAt, ...node }) => ({ cursor: encodeKey([joinedAt, node.id]), node, joinedAt }),
);

/**
 * The rooms of which a user is a member, that with the latest event first. All of them are read, and sorted: their order
 * changes with each event.
 */
export const findJoinedRooms = createConnectionFinder(
  ['headAt', 'rooms.id'],
  (db, { userId }: { userId: string }) =>
    db
      .selectFrom('roomMembers')
      .innerJoin('rooms', 'rooms.id', 'roomMembers.roomId')
      .where(dialectOf(db).countsRows('roomMembers'))
      .select(roomColumns)
      .where('userId', '=', userId)
      .where('deletedAt', 'is', null),
  (node) => ({ cursor: encodeKey([node.headAt, node.id]), node }),
  { isDescending: true },
);
