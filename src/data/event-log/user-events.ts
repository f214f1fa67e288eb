import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement } from '../sql/statement.ts';
import { type UserEventRow, userEventColumns } from '../tables.ts';
import { follows, headOf, type LogPosition, logStart, maxMark, type ReadFailure } from './events.ts';

/*
 * The log of a user has what happens to the user: rooms that the user joins and leaves, and rooms that the user has read. The
 * numbers and marks are those of a log of a room. A deleted room has no log, so that the user's log is what tells of its end.
 */

const advanceHead = createStatement((db, { userId, mark }: { userId: string; mark: number }) =>
  db
    .insertInto('userLogs')
    .values({ userId, head: 1, headMark: mark, previousMark: 0 })
    .onConflict((conflict) =>
      conflict.column('userId').doUpdateSet((eb) => ({
        head: eb('userLogs.head', '+', 1),
        previousMark: eb.ref('userLogs.headMark'),
        headMark: mark,
      })),
    ),
);

const insertRoomRead = createStatement((db, { userId, roomId, now }: { userId: string; roomId: string; now: number }) =>
  db
    .insertInto('userEvents')
    .columns(['userId', 'seq', 'mark', 'previousMark', 'type', 'roomId', 'roomSeq', 'roomMark', 'at'])
    .expression((eb) =>
      eb
        .selectFrom('userLogs')
        .select([
          'userId',
          'head',
          'headMark',
          'previousMark',
          sql<UserEventRow['type']>`cast('RoomRead' as text)`.as('type'),
          sql<string>`cast(${roomId} as text)`.as('roomId'),
          sql<number>`0`.as('roomSeq'),
          sql<number>`0`.as('roomMark'),
          sql<number>`cast(${now} as bigint)`.as('at'),
        ])
        .where('userId', '=', userId),
    ),
);

/** Writes that the user has read a room. The user's log is locked until the end of the transaction, after the room. */
export async function appendRoomRead(db: Db, userId: string, roomId: string): Promise<void> {
  await Promise.all([
    advanceHead(db, { userId, mark: randomInt(1, maxMark) }),
    insertRoomRead(db, { userId, roomId, now: Date.now() }),
  ]);
}

const selectEvents = createStatement((db, { userId, after, limit }: { userId: string; after: number; limit: number }) =>
  db
    .selectFrom('userLogs')
    .leftJoin('userEvents', (join) => join.onRef('userEvents.userId', '=', 'userLogs.userId').on('seq', '>', after))
    .select(['head', 'headMark', ...userEventColumns.map((column) => `userEvents.${column}` as const)])
    .where('userLogs.userId', '=', userId)
    .orderBy('seq')
    .limit(limit),
);

const selectHead = createStatement((db, { userId }: { userId: string }) =>
  db.selectFrom('userLogs').select(['head', 'headMark']).where('userId', '=', userId),
);

/** The position of the latest event of a user. */
export async function findUserHead(db: Db, userId: string): Promise<LogPosition> {
  const [log] = await selectHead(db, { userId });
  return log ? headOf(log) : logStart;
}

/** Reads up to `limit` events of a user after a position, or returns the reason why the position cannot be read from. */
export async function readUserEvents(
  db: Db,
  userId: string,
  after: LogPosition,
  limit: number,
): Promise<readonly UserEventRow[] | ReadFailure> {
  const rows = await selectEvents(db, { userId, after: after.seq, limit });
  const head = rows[0] ? headOf(rows[0]) : logStart;
  if (after.seq > head.seq) return 'rewound';
  if (after.seq === head.seq) return after.mark === head.mark ? [] : 'rewound';
  const [first] = rows as readonly UserEventRow[];
  if (first?.seq !== after.seq + 1) return 'trimmed';
  return follows(first, after) ? (rows as readonly UserEventRow[]) : 'rewound';
}

/** The beginnings and ends of a user's memberships between two numbers of the user's log, in order. */
export function findMembershipChanges(
  db: Db,
  { userId, after, upTo }: { userId: string; after: number; upTo: number },
): Promise<Pick<UserEventRow, 'seq' | 'previousMark' | 'roomId' | 'roomSeq'>[]> {
  return db
    .selectFrom('userEvents')
    .select(['seq', 'previousMark', 'roomId', 'roomSeq'])
    .where('userId', '=', userId)
    .where('seq', '>', after)
    .where('seq', '<=', upTo)
    .where('type', '<>', 'RoomRead')
    .orderBy('seq')
    .execute();
}

/** The users among these whose logs are not at these positions any more. */
export async function findMovedUsers(
  db: Db,
  positions: Iterable<readonly [userId: string, LogPosition]>,
): Promise<Set<string>> {
  const known = Array.from(positions, ([userId, { seq, mark }]) => [userId, seq, mark]);
  const { rows } = await sql<{ userId: string }>`
    select known.value ->> 0 as "userId"
    from ${dialectOf(db).elementsOf(JSON.stringify(known))} as known
    left join "userLogs" on "userLogs"."userId" = known.value ->> 0
    where coalesce("head", 0) <> cast(known.value ->> 1 as bigint)
      or coalesce("headMark", 0) <> cast(known.value ->> 2 as bigint)
  `.execute(db);
  return new Set(rows.map(({ userId }) => userId));
}
