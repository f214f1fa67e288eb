import { ask } from './client.ts';

/** Signs up a person with this number. Returns the access token. */
export async function signUp(port: number, number = 0): Promise<string> {
  const input = { name: `Person ${number}`, email: `person${number}@example.org`, password: 'correct horse battery' };
  const query = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
  const { signUp } = await ask(port, { query, variables: { input } });
  return signUp.accessToken;
}

/** Returns the id of the room. */
export async function createRoom(port: number, token: string, name = 'lobby'): Promise<string> {
  const query = 'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }';
  const { createRoom } = await ask(port, { query, variables: { input: { name } }, token });
  return createRoom.room.id;
}

interface PostInput {
  room: string;
  title: string;
  body?: string;
}

export async function createPost(port: number, token: string, input: PostInput): Promise<void> {
  const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
  await ask(port, { query, variables: { input }, token });
}
