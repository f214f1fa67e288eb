import { createPost, createRoom, signUp } from '../support/accounts.ts';

/** Creates a room with 50 long posts. Returns its id. */
export async function prepareRoom(port: number): Promise<string> {
  const token = await signUp(port);
  const room = await createRoom(port, token);
  for (let number = 0; number < 50; number += 1) {
    await createPost(port, token, { room, title: `Post ${number}`, body: 'Some words. '.repeat(150) });
  }
  return room;
}
