import type { ConsoleClient } from './client.ts';
import { type FoundUser, findUsers } from './operations.ts';

/** The users with this id, or a name that contains the text. */
export async function searchUsers(client: ConsoleClient, text: string): Promise<FoundUser[]> {
  const { user, users } = await client.post(findUsers, { text, id: text });
  return user ? [user, ...users.data.filter(({ id }) => id !== user.id)] : users.data;
}
