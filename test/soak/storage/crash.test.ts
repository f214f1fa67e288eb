import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { EventStream } from '../../support/clients/event-stream.ts';
import {
  launch,
  launchProcessForTest,
  type Person,
  type Postroom,
  scratchFolder,
} from '../../support/server/postroom.ts';

const crashes = 30;
const writers = 4;
const hasStrace = spawnSync('strace', ['-V']).status === 0;

/** Creates posts until the server stops answering; appends the id of each acknowledged post to `acknowledged`. */
async function postUntilGone(postroom: Postroom, author: Person, room: string, acknowledged: string[]): Promise<void> {
  for (;;) {
    try {
      acknowledged.push(await postroom.createPost(author, room, 'under way'));
    } catch {
      return;
    }
  }
}

/** Replays the events after the cursor `after`. Returns the ids of the posts and the room's current cursor. */
async function replay(postroom: Postroom, room: string, after: string): Promise<{ ids: string[]; cursor: string }> {
  const cursor = await postroom.cursorOf(room);
  const query = `subscription { roomEvents(room: "${room}", after: "${after}") { cursor ... on PostCreated { post { id } } } }`;
  const ids: string[] = [];
  if (cursor === after) return { ids, cursor };
  const stream = await EventStream.open(postroom.graphqlUrl, query);
  for (;;) {
    const { data } = await stream.take(({ event }) => event === 'next');
    const event = data.data.roomEvents;
    ids.push(event.post.id);
    if (event.cursor === cursor) break;
  }
  stream.response.destroy();
  return { ids, cursor };
}

it(`events acknowledged before any of ${crashes} crashes are replayed once, in order, and none is delivered twice`, async () => {
  const settings = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  let postroom = await launch(settings);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'lobby');
  let cursor = await postroom.cursorOf(room);
  const told = new Set<string>();
  for (let crash = 0; crash < crashes; crash += 1) {
    const acknowledged = Array.from({ length: writers }, (): string[] => []);
    const writing = acknowledged.map((ids) => postUntilGone(postroom, ada, room, ids));
    await wait(50 + Math.random() * 200);
    await postroom.kill();
    await Promise.all(writing);
    postroom = await launch(settings);
    const replayed = await replay(postroom, room, cursor);
    cursor = replayed.cursor;
    for (const id of replayed.ids) {
      expect(told.has(id)).toBe(false);
      told.add(id);
    }
    for (const ids of acknowledged) {
      const places = ids.map((id) => replayed.ids.indexOf(id));
      expect(places.every((place, index) => place > (places[index - 1] ?? -1))).toBe(true);
    }
  }
  await postroom.stop();
  expect(told.size).toBeGreaterThan(crashes);
}, 180_000);

it.skipIf(!hasStrace)(
  'a commit is on disk before it is acknowledged: there are as many fsyncs as changes (strace)',
  async () => {
    const folder = scratchFolder();
    const postroom = await launchProcessForTest({ DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}` });
    const ada = await postroom.signUp('Ada');
    const room = await postroom.createRoom(ada, 'lobby');
    const trace = join(folder, 'trace');
    const pid = String(postroom.process.pid);
    const strace = spawn('strace', ['-f', '-e', 'trace=fsync,fdatasync', '-o', trace, '-p', pid]);
    // strace writes to stderr after it has attached to the process.
    await once(strace.stderr, 'data');
    const changes = 200;
    for (let change = 0; change < changes; change += 1) await postroom.createPost(ada, room, 'kept');
    strace.kill('SIGINT');
    await once(strace, 'exit');
    const syncs = readFileSync(trace, 'utf8').match(/f(?:data)?sync\(/g) ?? [];
    expect(syncs.length).toBeGreaterThanOrEqual(changes);
  },
);
