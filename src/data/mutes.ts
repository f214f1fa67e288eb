import type { Db } from './database.ts';
import { createStatement } from './sql/statement.ts';

interface Mute {
  roomId: string;
  userId: string;
  /** In milliseconds since 1970. */
  until: number;
}

/** A user, and the account that the user belongs to: the owner of an API key is another user than the key. */
export interface MutedUsers {
  userId: string;
  accountId: string;
}

const selectMutes = createStatement((db, { roomId, userId, accountId }: MutedUsers & { roomId: string }) =>
  db.selectFrom('mutes').select('until').where('roomId', '=', roomId).where('userId', 'in', [userId, accountId]),
);

/** The time until which either of the users is muted in the room, which may be in the past; null if there is none. */
export async function findMute(db: Db, roomId: string, users: MutedUsers): Promise<number | null> {
  return findLast(await selectMutes(db, { roomId, ...users }));
}

const selectMutesInPostRoom = createStatement((db, { postId, userId, accountId }: MutedUsers & { postId: string }) =>
  db
    .selectFrom('mutes')
    .select('until')
    .where('userId', 'in', [userId, accountId])
    .where('roomId', '=', (eb) => eb.selectFrom('posts').select('posts.roomId').where('posts.id', '=', postId)),
);

/** The same for the room of a post, whose row need not have been read before. */
export async function findMuteOfPostRoom(db: Db, postId: string, users: MutedUsers): Promise<number | null> {
  return findLast(await selectMutesInPostRoom(db, { postId, ...users }));
}

function findLast(mutes: readonly Pick<Mute, 'until'>[]): number | null {
  return mutes.length === 0 ? null : Math.max(...mutes.map(({ until }) => until));
}

/** Replaces an earlier mute of the user in the room. */
export async function insertMute(db: Db, mute: Mute): Promise<void> {
  await db
    .insertInto('mutes')
    .values(mute)
    .onConflict((conflict) => conflict.columns(['roomId', 'userId']).doUpdateSet({ until: mute.until }))
    .execute();
}

export async function deleteMute(db: Db, roomId: string, userId: string): Promise<void> {
  await db.deleteFrom('mutes').where('roomId', '=', roomId).where('userId', '=', userId).execute();
}
