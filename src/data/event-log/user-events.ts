import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import type { Db } from '../database/database.ts';
import { dialectOf } from '../sql/sql-dialect.ts';
import { createStatement } from '../sql/statement.ts';
import { type UserEventRow, userEventColumns } from '../tables.ts';
import { headOf, type LogPosition, logStart, maxMark, type ReadFailure, withoutGap } from './events.ts';

/*
 * The log of a user has what happens to the user: rooms that the user joins and leaves, and rooms that the user has read. The
 * numbers and marks are those of a log of a room. A deleted room has no log, so that the user's log is what tells of its end.
 */

/** Writes that the user has read a room. The user's log is locked until the end of the transaction, after the room. */
export async function appendRoomRead(db: Db, userId: string, roomId: string): Promise<void> {
  const advance = sql`
    insert into "userLogs" ("userId", "head", "headMark", "previousMark") values (${userId}, 1, ${randomInt(1, maxMark)}, 0)
      on conflict ("userId") do update set
        "head" = "userLogs"."head" + 1, "previousMark" = "userLogs"."headMark", "headMark" = excluded."headMark"`;
  const insert = sql`
    insert into "userEvents" ("userId", "seq", "mark", "previousMark", "type", "roomId", "roomSeq", "roomMark", "at")
      select "userId", "head", "headMark", "previousMark", 'RoomRead', cast(${roomId} as text), 0, 0, cast(${Date.now()} as bigint)
      from "userLogs" where "userId" = ${userId}`;
  await Promise.all([advance.execute(db), insert.execute(db)]);
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
  return withoutGap(rows as readonly UserEventRow[], after);
}

/** The beginnings and ends of a user's memberships between two numbers of the user's log, in order. */
export const findMembershipChanges = createStatement(
  (db, { userId, after, upTo }: { userId: string; after: number; upTo: number }) =>
    db
      .selectFrom('userEvents')
      .where(dialectOf(db).countsRows('userEvents'))
      .select(userEventColumns)
      .where('userId', '=', userId)
      .where('seq', '>', after)
      .where('seq', '<=', upTo)
      // The condition of the index; not a parameter, so that every plan of the statement can use it.
      .where(sql<boolean>`"type" <> 'RoomRead'`)
      .orderBy('seq'),
);
