import type { Db } from './database.ts';
import { deleteSome } from './some-rows.ts';
import { createStatement } from './statement.ts';

interface Mute {
  roomId: string;
  userId: string;
  /** In milliseconds since 1970. */
  until: number;
}

const selectMute = createStatement((db, { roomId, userId }: Omit<Mute, 'until'>) =>
  db.selectFrom('mutes').select('until').where('roomId', '=', roomId).where('userId', '=', userId),
);

/** The time until which the user is muted in the room, which may be in the past; null if there is none. */
export async function findMute(db: Db, roomId: string, userId: string): Promise<number | null> {
  return (await selectMute(db, { roomId, userId }))[0]?.until ?? null;
}

const selectMuteOfPostRoom = createStatement((db, { postId, userId }: { postId: string; userId: string }) =>
  db
    .selectFrom('mutes')
    .select('until')
    .where('userId', '=', userId)
    .where('roomId', '=', (eb) => eb.selectFrom('posts').select('posts.roomId').where('posts.id', '=', postId)),
);

/** The same for the room of a post, whose row need not have been read before. */
export async function findMuteOfPostRoom(db: Db, postId: string, userId: string): Promise<number | null> {
  return (await selectMuteOfPostRoom(db, { postId, userId }))[0]?.until ?? null;
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

/** Deletes up to `limit` mutes of a user, and returns their number. */
export async function deleteMutesOf(db: Db, userId: string, limit: number): Promise<number> {
  return deleteSome(db, 'mutes', db.selectFrom('mutes').where('userId', '=', userId), limit);
}
