import type { PostroomClient as Client, Room, User } from '@postroom/client';
import type { PostText } from './text.ts';

/* The operations that the stores of @postroom/client do not have. */

export async function createRoom(client: Client, name: string, visibility: Room['visibility']): Promise<string> {
  const text = 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }';
  const variables = { input: { name, visibility } };
  return (await client.request<{ createRoom: { room: { id: string } } }>(text, variables)).createRoom.room.id;
}

/** Public rooms whose names contain the text. */
export async function findRooms(client: Client, name: string): Promise<Room[]> {
  const text = 'query ($filter: RoomFilter) { rooms(limit: 50, filter: $filter) { data { id name viewerRole } } }';
  const filter = { visibility: 'PUBLIC', ...(name && { name }) };
  return (await client.request<{ rooms: { data: Room[] } }>(text, { filter })).rooms.data;
}

/** Users whose names contain the text. */
export async function findUsers(client: Client, name: string): Promise<User[]> {
  const text = 'query ($filter: UserFilter) { users(limit: 20, filter: $filter) { data { id name } } }';
  return (await client.request<{ users: { data: User[] } }>(text, { filter: name ? { name } : null })).users.data;
}

/** The id of the room: there is one for each two users. */
export async function openDirectRoom(client: Client, user: string): Promise<string> {
  const text = 'mutation ($input: OpenDirectRoomInput!) { openDirectRoom(input: $input) { room { id } } }';
  return (await client.request<{ openDirectRoom: { room: { id: string } } }>(text, { input: { user } })).openDirectRoom
    .room.id;
}

/** The time up to which the viewer has read the room; null if the viewer is not a member. */
export async function findLastRead(client: Client, id: string): Promise<string | null> {
  const text = 'query ($id: ID!) { room(id: $id) { lastRead } }';
  return (await client.request<{ room: { lastRead: string | null } | null }>(text, { id })).room?.lastRead ?? null;
}

export const joinRoom = (client: Client, room: string) =>
  client.request('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room });
export const leaveRoom = (client: Client, room: string) =>
  client.request('mutation ($room: ID!) { leaveRoom(input: { room: $room }) { room { id } } }', { room });
export const deleteRoom = (client: Client, id: string) =>
  client.request('mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }', { id });
export const addMember = (client: Client, input: { room: string; user: string }) =>
  client.request('mutation ($input: AddRoomMemberInput!) { addRoomMember(input: $input) { room { id } } }', { input });
export const removeMember = (client: Client, input: { room: string; user: string }) =>
  client.request('mutation ($input: RemoveRoomMemberInput!) { removeRoomMember(input: $input) { room { id } } }', {
    input,
  });

/** Fails with CONFLICT if the post was changed since, for example in another tab. */
export const updatePost = (client: Client, input: PostText & { id: string; expectedVersion: number }) =>
  client.request('mutation ($input: UpdatePostInput!) { updatePost(input: $input) { post { id } } }', { input });

/** Is also sent while the page is being closed. */
export const deletePost = (client: Client, id: string) =>
  client.request('mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }', { id }, { keepalive: true });
