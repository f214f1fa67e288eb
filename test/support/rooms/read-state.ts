import type { Person, Postroom, Reply } from '../server/postroom.ts';

/* What members read in rooms. */

/** The read position of a member in a room, as the API returns it. */
export interface ReadState {
  unread: number | null;
  lastRead: string | null;
}

export async function readStateOf(postroom: Postroom, room: string, viewer?: Person): Promise<ReadState> {
  const query = 'query ($room: ID!) { room(id: $room) { unread lastRead } }';
  return (await postroom.ask(query, { room }, viewer?.token)).room;
}

/** Marks a room as read, up to a post or up to now. */
export function markRead(
  postroom: Postroom,
  viewer: Person | undefined,
  input: { room: string; post?: string | null },
): Promise<Reply> {
  const mutation = 'mutation ($input: MarkReadInput!) { markRead(input: $input) { room { id unread lastRead } } }';
  return postroom.send(mutation, { input }, viewer?.token);
}

type MembershipChange = 'joinRoom' | 'leaveRoom';

export async function changeMembership(
  postroom: Postroom,
  change: MembershipChange,
  person: Person,
  room: string,
): Promise<void> {
  const mutation = `mutation ($room: ID!) { ${change}(input: { room: $room }) { room { id } } }`;
  await postroom.ask(mutation, { room }, person.token);
}

/** Creates a room of `owner` with a second member. */
export async function createSharedRoom(postroom: Postroom, owner: Person, member: Person): Promise<string> {
  rooms += 1;
  const room = await postroom.createRoom(owner, `shared ${rooms}`);
  await changeMembership(postroom, 'joinRoom', member, room);
  return room;
}

let rooms = 0;
