import { join } from 'node:path';
import { setImmediate, setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { launch, scratchFolder } from '../../support/server/postroom.ts';
import { withDatabase } from '../../support/server/shared-server.ts';

const crashes = 30;

it(`after each of ${crashes} crashes, before or after the commit, a repeated mutation with its key creates one post`, async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { DATABASE_URL: `sqlite:${file}` };
  let postroom = await launch(settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const count = () =>
    withDatabase(file, (database) => Number(database.prepare('select count(*) as n from posts').all()[0]?.['n']));
  const query = `mutation ($input: CreatePostInput!, $key: String!) {
    createPost(input: $input) @idempotent(key: $key) { post { id title } }
  }`;
  let committedBefore = 0;
  for (let crash = 0; crash < crashes; crash += 1) {
    const variables = { input: { room, title: `post ${crash}` }, key: `key ${crash}` };
    const unanswered = postroom.send(query, variables, ada.token).catch(() => undefined);
    // Every third server is killed at a random moment; the others as soon as the post is committed.
    if (crash % 3 === 0) await wait(Math.random() * 10);
    else while (count() === crash) await setImmediate();
    await postroom.kill();
    await unanswered;
    committedBefore += count() - crash;
    postroom = await launch(settings);
    const { createPost } = await postroom.ask(query, variables, ada.token);
    expect(createPost.post.title).toBe(`post ${crash}`);
    expect(count()).toBe(crash + 1);
  }
  expect(committedBefore).toBeGreaterThanOrEqual((crashes * 2) / 3);
  const { rooms } = await postroom.ask('{ rooms { data { posts(first: 100) { nodes { title } } } } }');
  expect(rooms.data[0].posts.nodes).toEqual(Array.from({ length: crashes }, (_, n) => ({ title: `post ${n}` })));
  await postroom.stop();
}, 300_000);
