import { post } from '../fan-out/http-client.ts';

export interface Prepared {
  /** Of a room with 50 posts of some length. */
  room: string;
}

const person = { name: 'Ada Lovelace', email: 'ada@example.org', password: 'correct horse battery' };

export async function prepare(port: number): Promise<Prepared> {
  const { signUp } = await ask(
    port,
    'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }',
    person,
  );
  const authorization = `Bearer ${signUp.accessToken}`;
  const { createRoom } = await ask(
    port,
    'mutation ($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }',
    { name: 'lobby' },
    authorization,
  );
  const room: string = createRoom.room.id;
  for (let number = 0; number < 50; number += 1) {
    const input = { room, title: `Post ${number}`, body: 'Some words. '.repeat(150) };
    await ask(
      port,
      'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }',
      input,
      authorization,
    );
  }
  return { room };
}

// biome-ignore lint/suspicious/noExplicitAny: its shape is the mutation's.
async function ask(port: number, query: string, input: object, authorization?: string): Promise<any> {
  const headers = { 'content-type': 'application/json', ...(authorization && { authorization }) };
  const { data, errors } = JSON.parse(
    await post({ port, path: '/graphql', headers, body: JSON.stringify({ query, variables: { input } }) }),
  );
  if (errors) throw new Error(`${query} failed: ${JSON.stringify(errors)}`);
  return data;
}
