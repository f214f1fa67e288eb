import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { EventStream } from '../support/clients/event-stream.ts';
import { exchange } from '../support/clients/http.ts';
import { fillDisk, mountDisk, unmountDisks } from '../support/database/small-disk.ts';
import { launchForTest, run } from '../support/server/postroom.ts';

/* The tests fill a small separate file system. They are skipped if they have no permission to mount it. */

afterAll(unmountDisks);

const disk = mountDisk();

describe.skipIf(disk === undefined)('a full disk (needs the right to mount)', () => {
  it('refuses writes with 503 and the true reason in the log, lets reads and streams continue, and recovers by itself', async () => {
    const folder = disk ?? '';
    const postroom = await launchForTest({ DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    const stream = await EventStream.open(postroom.graphqlUrl, `subscription { postAdded(room: "${room}") { title } }`);
    const mutation = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
    const write = (title: string) =>
      postroom.send(mutation, { input: { room, title, body: 'x'.repeat(20_000) } }, ada.token);
    const ready = async () => (await exchange(postroom, { path: '/ready' })).status;
    const release = fillDisk(folder);
    const stored: string[] = [];
    // The write-ahead log has some reusable space, so the first writes may succeed.
    let answer = await write('post 0');
    for (let n = 1; answer.status === 200 && n < 1_000; n += 1) {
      stored.push(`post ${n - 1}`);
      answer = await write(`post ${n}`);
    }
    const answers = [answer, ...(await Promise.all(Array.from({ length: 10 }, () => write('refused'))))];
    for (const { status, code, headers } of answers) {
      expect({ status, code, retryAfter: headers.get('retry-after') }).toEqual({
        status: 503,
        code: 'SERVICE_UNAVAILABLE',
        retryAfter: '1',
      });
    }
    expect(postroom.log).toMatchObject([{ level: 50, reason: expect.stringContaining('SQLITE_FULL') }]);
    const { status } = await postroom.send('{ posts { pagination { total } } }');
    expect(status).toBe(200);
    release();
    await expect.poll(ready).toBe(200);
    expect((await write('afterwards')).status).toBe(200);
    stored.push('afterwards');
    const titles: string[] = [];
    for (const _ of stored) {
      const { data } = await stream.take(({ event }) => event === 'next');
      titles.push(data.data.postAdded.title);
    }
    stream.response.destroy();
    expect(titles).toEqual(stored);
    const { posts } = await postroom.ask('{ posts { pagination { total } } }');
    expect(posts.pagination.total).toBe(stored.length);
  });

  it('is the reason that import and start give', async () => {
    const folder = mountDisk() ?? '';
    const settings = { PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` };
    const first = await launchForTest(settings);
    const ada = await first.signUp('Ada');
    await first.createRoom(ada, 'lobby');
    await first.stop();
    const users = Array.from(
      { length: 40_000 },
      (_, n) => `{"type":"user","name":"user ${n}","createdAt":"2004-12-25T09:14:00.000Z"}`,
    );
    const imported = await run(['import', '-'], settings, users.join('\n'));
    expect(imported.status).toBe(1);
    expect(imported.stderr).toMatch(/^postroom: [^\n]*database or disk is full \(SQLITE_FULL, code 13\)$/m);
    const full = mountDisk() ?? '';
    fillDisk(full);
    const started = await run(['serve'], { PORT: '0', DATABASE_URL: `sqlite:${join(full, 'postroom.db')}` });
    expect(started.status).toBe(1);
    expect(started.stderr).toMatch(/^postroom: [^\n]*: the disk is full\n$/);
  });
});
