import type { ConsoleClient } from './client.ts';
import { type FoundPost, type FoundRoom, type FoundUser, findPosts, findRooms, findUsers } from './operations.ts';

/* What has this id, or a name or title that contains the text. */

export async function searchUsers(client: ConsoleClient, text: string): Promise<FoundUser[]> {
  const { user, users } = await client.post(findUsers, { text, id: text });
  return withoutRepeats([user, ...users.data]);
}

export async function searchRooms(client: ConsoleClient, text: string): Promise<FoundRoom[]> {
  const { room, roomByName, rooms } = await client.post(findRooms, { text, id: text });
  return withoutRepeats([room, roomByName, ...rooms.data]);
}

export async function searchPosts(client: ConsoleClient, text: string): Promise<FoundPost[]> {
  const { post, posts } = await client.post(findPosts, { text, id: text });
  return withoutRepeats([post, ...posts.data]);
}

/** The room with exactly this id or name. @throws an error with a message for the operator if there is not one. */
export async function findRoomOrThrow(client: ConsoleClient, text: string): Promise<FoundRoom> {
  const found = await searchRooms(client, text);
  const named = found.filter(({ name }) => name === text);
  const room = found.find(({ id }) => id === text) ?? named[0];
  if (!room) throw new Error(`No room has the name or id “${text}”.`);
  // The name of a private room is unique only among the rooms of its owner.
  if (room.id !== text && named.length > 1) throw new Error(`Several rooms are named “${text}”: use an id.`);
  return room;
}

function withoutRepeats<Item extends { id: string }>(items: readonly (Item | null)[]): Item[] {
  return [...new Map(items.flatMap((item) => (item ? [[item.id, item] as const] : []))).values()];
}
