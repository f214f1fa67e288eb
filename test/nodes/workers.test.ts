import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { seqOf } from '../support/rooms/cursors.ts';
import { launchProcessForTest, type PostroomProcess, run, scratchFolder } from '../support/server/postroom.ts';

/* Several processes of one server: WORKERS. */

const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
const roomEvents = 'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }';

async function launchWorkers(workers: number): Promise<PostroomProcess> {
  const settings = { WORKERS: String(workers), DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const postroom = await launchProcessForTest({ ...settings, LOG_LEVEL: 'info', DRAIN_SECONDS: '1' });
  await untilLogged(postroom, 'all workers serve');
  return postroom;
}

function untilLogged({ log }: PostroomProcess, msg: string): Promise<void> {
  return expect.poll(() => log.map((line) => line['msg'])).toContain(msg);
}

function workersOf({ process: { pid } }: PostroomProcess): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function openSockets({ webSocketUrl }: PostroomProcess, count: number): Promise<ProtocolSocket[]> {
  return Promise.all(Array.from({ length: count }, () => ProtocolSocket.open(webSocketUrl)));
}

it('workers share a port; the subscribers of all of them see every event, once, in order, also after each was killed', async () => {
  const postroom = await launchWorkers(2);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const first = seqOf(await postroom.cursorOf(room));
  const sockets = await openSockets(postroom, 4);
  const operations = sockets.map((socket) => socket.subscribe('1', roomEvents, { room }));
  await Promise.all(operations.map(({ start }) => start));
  for (let number = 0; number < 10; number += 1) await postroom.createPost(ada, room, `${number}`);
  const cursors = await Promise.all(
    operations.map(async ({ results }) => (await results.take(10)).map(({ data }) => data.roomEvents.cursor)),
  );
  for (const own of cursors)
    expect(own.map(seqOf)).toEqual(Array.from({ length: 10 }, (_, index) => first + 1 + index));

  const started = () => postroom.log.filter(({ msg }) => msg === 'started').length;
  for (const [index, pid] of workersOf(postroom).entries()) {
    process.kill(pid, 'SIGKILL');
    await expect.poll(started).toBe(3 + index);
  }
  await Promise.all(sockets.map(({ closed }) => closed));
  expect(postroom.log.filter(({ msg }) => msg === 'a worker ended, and is started again')).toHaveLength(2);
  // A connection of the earlier requests may be to a worker that was killed.
  const post = () => postroom.createPost(ada, room, 'after');
  await post().catch(post);
  const again = await openSockets(postroom, 4);
  for (const [index, socket] of again.entries()) {
    const { results } = socket.subscribe('1', roomEvents, { room, after: cursors[index]?.at(-1) });
    expect((await results.take(1)).map(({ data }) => seqOf(data.roomEvents.cursor))).toEqual([first + 11]);
  }
  expect(await postroom.stop()).toBe(0);
});

it('SIGUSR2 replaces the workers one after the other, without refusing a connection, and its clients resume', async () => {
  const postroom = await launchWorkers(2);
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const before = workersOf(postroom);
  const start = await postroom.cursorOf(room);
  postroom.process.kill('SIGUSR2');
  let posts = 0;
  while (!postroom.log.some(({ msg }) => msg === 'the workers were replaced')) {
    // On a connection of its own: one that is kept open may be to a worker that stops.
    const answer = await fetch(postroom.graphqlUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}`, connection: 'close' },
      body: JSON.stringify({ query: createPost, variables: { input: { room, title: `${posts}` } } }),
    });
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 200, body: { data: {} } });
    posts += 1;
  }
  const after = workersOf(postroom);
  expect(after).toHaveLength(2);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  const [socket] = await openSockets(postroom, 1);
  const { results } = socket?.subscribe('1', roomEvents, { room, after: start }) ?? {};
  const seqs = (await results?.take(posts))?.map(({ data }) => seqOf(data.roomEvents.cursor));
  expect(seqs).toEqual(Array.from({ length: posts }, (_, index) => seqOf(start) + 1 + index));
});

it('workers drain and end when their parent was killed', async () => {
  const postroom = await launchWorkers(2);
  const workers = workersOf(postroom);
  await postroom.kill();
  await expect.poll(() => workers.filter(isRunning)).toEqual([]);
  expect(postroom.log.filter(({ msg }) => msg === 'stopped')).toHaveLength(2);
});

it('a server whose workers cannot start ends with their status, and says once why', async () => {
  const { status, stderr } = await run(['serve'], {
    WORKERS: '3',
    DATABASE_URL: 'sqlite:/proc/none/postroom.db',
    PORT: '0',
  });
  expect(status).toBe(1);
  expect(stderr.match(/the database cannot be used/g)).toHaveLength(1);
});
