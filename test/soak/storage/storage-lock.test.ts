import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { shareServer, withDatabase, withDatabaseLocked } from '../../support/server/shared-server.ts';

const server = shareServer();
const writes = 20;

it('of the writes sent while another process holds the lock for longer than a write waits, exactly those answered with 200 are stored', async () => {
  const { postroom, databaseFile } = server;
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  const mutation = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
  const send = (title: string) => postroom.send(mutation, { input: { room, title } }, ada.token);
  const { early, late } = await withDatabaseLocked(databaseFile, async () => {
    const early = await Promise.all(Array.from({ length: writes / 2 }, (_, n) => send(`early ${n}`)));
    const late = Array.from({ length: writes / 2 }, (_, n) => send(`late ${n}`));
    // These requests are waiting when the lock is released.
    await wait(2_000);
    return { early, late };
  });
  const answers = [...early, ...(await Promise.all(late))];
  const done = answers.filter(({ status }) => status === 200);
  expect(answers.map(({ status }) => status)).toEqual([
    ...Array<number>(writes / 2).fill(503),
    ...Array<number>(writes / 2).fill(200),
  ]);
  // This post is written after all the writes that were waiting.
  expect((await send('last')).status).toBe(200);
  const stored = withDatabase(databaseFile, (database) =>
    database.prepare("select count(*) as count from posts where title <> 'last'").get(),
  );
  expect(stored?.['count']).toBe(done.length);
});
