import type { HttpClient } from './http-client.ts';

export interface Account {
  id: string;
  token: string;
  email: string;
  password: string;
}

let people = 0;

export async function signUp(client: HttpClient, name = 'Ada'): Promise<Account> {
  people += 1;
  const person = { email: `person${people}@example.org`, password: 'correct horse' };
  const { signUp } = await client.ask(
    'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken user { id } } }',
    { input: { name, ...person } },
  );
  return { id: signUp.user.id, token: signUp.accessToken, ...person };
}

export async function createRoom(client: HttpClient, owner: Account, name = 'hall'): Promise<string> {
  const mutation = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';
  return (await client.ask(mutation, { name }, owner.token)).createRoom.room.id;
}

export const createPostMutation = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';

/** Creates posts with these titles, one after the other. */
export async function createPosts(
  client: HttpClient,
  author: Account,
  room: string,
  titles: readonly string[],
): Promise<void> {
  for (const title of titles) await client.ask(createPostMutation, { input: { room, title } }, author.token);
}

export async function cursorOf(client: HttpClient, room: string): Promise<string> {
  return (await client.ask('query ($room: ID!) { room(id: $room) { cursor } }', { room })).room.cursor;
}

/** `A1` to `A5`. */
export function titles(letter: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, index) => `${letter}${from + index}`);
}

/** A subscription that selects the titles of new posts. */
export function titlesOf(room: string, after?: string): string {
  const argument = after === undefined ? '' : `, after: ${JSON.stringify(after)}`;
  return `subscription { roomEvents(room: "${room}"${argument}) { __typename ... on PostCreated { post { title } } } }`;
}
