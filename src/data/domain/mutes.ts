import type { Selectable } from 'kysely';
import type { Db } from '../database/database.ts';
import { createVariableStatement } from '../sql/statement.ts';
import type { Tables } from '../tables.ts';
import { type RoomOrPost, roomIdOf } from './posts.ts';

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
export async function insertMute(db: Db, mute: Selectable<Tables['mutes']>): Promise<void> {
  await db
    .insertInto('mutes')
    .values(mute)
    .onConflict((conflict) => conflict.columns(['roomId', 'userId']).doUpdateSet({ until: mute.until }))
    .execute();
}

export async function deleteMute(db: Db, roomId: string, userId: string): Promise<void> {
  await db.deleteFrom('mutes').where('roomId', '=', roomId).where('userId', '=', userId).execute();
}
