import { type SelectQueryBuilder, sql } from 'kysely';
import type { Db } from '../database/database.ts';
import {
  isAccountNotErased,
  isRoomNotDeleted,
  isVisibleRoom,
  selectJoinedPrivateRooms,
  selectJoinedRooms,
  selectPublicRooms,
  type ViewerScope,
} from '../domain/visible-rooms.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement, createVariableStatement, firstOrThrow } from '../sql/statement.ts';
import { isStorable, matches, toNamePattern } from '../sql/stored-text.ts';
import { type RoomRow, roomColumns, type Tables } from '../tables.ts';
import { createEmptyPage, createPage, isLongPage, type PageArguments, type RoomPage } from './pages.ts';

export interface RoomFilter {
  visibility?: RoomRow['visibility'] | null | undefined;
  name?: string | null | undefined;
  member?: string | null | undefined;
}

interface RoomValues extends ViewerScope, Pick<RoomFilter, 'member'> {
  hasPublic: boolean;
  hasPrivate: boolean;
  name: string | false | null;
}

type Rooms = SelectQueryBuilder<Tables, 'rooms', object>;

/**
 * Queries for the rooms of a page. Together they find each room once: public rooms, in the order of an index, and private rooms
 * of the viewer. So neither the rooms that are hidden from the viewer nor their number matter.
 */
function selectRooms(db: Db, values: RoomValues): Rooms[] {
  const { userId, seesAll, hasPublic, hasPrivate, member, name } = values;
  const found: Rooms[] = [];
  if (member != null) found.push(selectRoomsOfMember(db, values, member));
  else if (seesAll && hasPrivate) {
    const rooms = selectAllRooms(db);
    found.push(hasPublic ? rooms : rooms.where('visibility', '=', 'PRIVATE'));
  } else {
    if (hasPublic) found.push(selectPublicRooms(db));
    if (hasPrivate && userId !== null) found.push(selectJoinedPrivateRooms(db, userId));
  }
  return found.map((rooms) => (name == null ? rooms : rooms.where(matches('name', name))));
}

function selectAllRooms(db: Db): Rooms {
  return db.selectFrom('rooms').where(dialectOf(db).countsRows('rooms')).where(isRoomNotDeleted('rooms.id'));
}

function selectRoomsOfMember(db: Db, values: RoomValues, member: string): Rooms {
  const { hasPublic, hasPrivate } = values;
  const rooms = db
    .selectFrom('rooms')
    .where(dialectOf(db).countsRows('rooms'))
    .where(isVisibleRoom(values, 'rooms.id'))
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('roomMembers')
        .where(dialectOf(db).countsRows('roomMembers'))
        .select('roomId')
        .where('userId', '=', member)
        .where(isAccountNotErased('roomMembers.userId')),
    );
  if (hasPublic && hasPrivate) return rooms;
  return rooms.where('visibility', '=', hasPublic ? 'PUBLIC' : 'PRIVATE');
}

const selectPage = createVariableStatement((db, values: RoomValues & { limit: number; offset: number }) =>
  selectRooms(db, values)
    .map((rooms) => rooms.select(roomColumns))
    .reduce((all, rooms) => all.unionAll(rooms))
    .orderBy('createdAt')
    .orderBy('id')
    .limit(values.limit)
    .offset(values.offset),
);

const countRooms = createVariableStatement((db, values: RoomValues) => {
  const counts = selectRooms(db, values).map((rooms) => sql`(${rooms.select(({ fn }) => fn.countAll().as('rows'))})`);
  return db.selectNoFrom(sql<number>`${sql.join(counts, sql` + `)}`.as('rows'));
});

export function findRoomPage(
  db: Db,
  viewerScope: ViewerScope,
  { visibility, name, member }: RoomFilter,
  page: PageArguments,
): RoomPage {
  if (visibility === 'PRIVATE' && !seesPrivateRooms(viewerScope)) return createEmptyPage(page);
  const values = {
    ...viewerScope,
    hasPublic: visibility !== 'PRIVATE',
    hasPrivate: visibility !== 'PUBLIC',
    name: toNamePattern(name),
    member,
  };
  return createPage(page, {
    read: (range) => selectPage(db, { ...values, ...range }, { isLong: isLongPage(values, range) }),
    count: async () => firstOrThrow(await countRooms(db, values, { isLong: true })).rows,
  });
}

const selectPublicRoom = createStatement((db, { name }: { name: string }) =>
  selectPublicRooms(db).select(roomColumns).where('name', '=', name),
);

/** Also finds a public room: a private room may become public after `selectPublicRoom` has not found it. */
const selectOwnRoom = createVariableStatement((db, { name, userId, seesAll }: ViewerScope & { name: string }) => {
  const rooms = seesAll || userId === null ? selectAllRooms(db) : selectJoinedRooms(db, userId);
  return rooms
    .select(roomColumns)
    .where('name', '=', name)
    .orderBy('visibility', 'desc')
    .orderBy('createdAt')
    .orderBy('id')
    .limit(1);
});

/** The public room with this name, or else the oldest private room with this name that is visible to the viewer. */
export async function findRoomByName(db: Db, viewerScope: ViewerScope, name: string): Promise<RoomRow | undefined> {
  if (!isStorable(name)) return undefined;
  const [room] = await selectPublicRoom(db, { name });
  if (room || !seesPrivateRooms(viewerScope)) return room;
  return (await selectOwnRoom(db, { ...viewerScope, name }))[0];
}

function seesPrivateRooms({ userId, seesAll }: ViewerScope): boolean {
  return seesAll || userId !== null;
}
