import { copyFileSync, readFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { writeManyRows } from '../support/database/many-rows.ts';
import { readMetrics, readSamples } from '../support/engine/metrics.ts';
import { seqOf } from '../support/rooms/cursors.ts';
import {
  launchProcessForTest,
  type PostroomProcess,
  run,
  runRefused,
  type Settings,
  scratchFolder,
} from '../support/server/postroom.ts';
import { withDatabase } from '../support/server/shared-server.ts';

/* Several processes of one server: WORKERS. */

const createPost = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }';
/** The first statement of each step. */
const findDeletedRoom = 'select "id" from "rooms" where "deletedAt" is not null';
const roomEvents = 'subscription ($room: ID!, $after: String) { roomEvents(room: $room, after: $after) { cursor } }';

async function launchWorkers(settings: Settings = {}, command?: string): Promise<PostroomProcess> {
  const DATABASE_URL = `sqlite:${join(scratchFolder(), 'postroom.db')}`;
  const own = { WORKERS: '2', DATABASE_URL, LOG_LEVEL: 'info', DRAIN_SECONDS: '1', ...settings };
  const postroom = await launchProcessForTest(own, undefined, command);
  await untilLogged(postroom, 'all workers serve');
  return postroom;
}

/** On a connection of its own: one that is kept open is to one worker, which may stop. */
async function ask({ graphqlUrl }: PostroomProcess, query: string, variables: object, token?: string) {
  const { status, headers, ...answer } = await fetch(graphqlUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      connection: 'close',
      ...(token && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query, variables }),
  }).then(async (response) => ({ status: response.status, headers: response.headers, body: await response.json() }));
  return { status, ...answer, remaining: Number(/r=(\d+)/.exec(String(headers.get('ratelimit')))?.[1]) };
}

function restart({ process: { pid } }: PostroomProcess) {
  return run(['restart', String(pid)]);
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
  const postroom = await launchWorkers();
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

it('restart replaces the workers one after the other: no connection is refused, the server stays ready, clients resume', async () => {
  const postroom = await launchWorkers({ DRAIN_DELAY_SECONDS: '1' });
  const ada = await postroom.signUp('Ada');
  const room = await postroom.createRoom(ada, 'hall');
  const before = workersOf(postroom);
  const start = await postroom.cursorOf(room);
  const restarted = restart(postroom);
  let isDone = false;
  void restarted.then(() => {
    isDone = true;
  });
  let posts = 0;
  while (!isDone) {
    const input = { room, title: `${posts}` };
    const answer = await ask(postroom, createPost, { input }, ada.token);
    expect(answer).toMatchObject({ status: 200, body: { data: { createPost: { post: {} } } } });
    const ready = await fetch(`${postroom.url}/ready`, { headers: { connection: 'close' } });
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'ok' }]);
    posts += 1;
  }
  const { status, stdout } = await restarted;
  expect([status, stdout]).toEqual([0, `The workers of the process ${postroom.process.pid} were replaced.\n`]);
  const after = workersOf(postroom);
  expect(after).toHaveLength(2);
  expect(after.filter((pid) => before.includes(pid))).toEqual([]);
  const [socket] = await openSockets(postroom, 1);
  const { results } = socket?.subscribe('1', roomEvents, { room, after: start }) ?? {};
  const seqs = (await results?.take(posts))?.map(({ data }) => seqOf(data.roomEvents.cursor));
  expect(seqs).toEqual(Array.from({ length: posts }, (_, index) => seqOf(start) + 1 + index));
});

it('restart says why it did nothing', async () => {
  expect(await runRefused(['restart', String(process.pid)])).toMatch(/no server with WORKERS/);
  expect((await run(['restart', 'all'])).stderr).toMatch(/usage: postroom restart \[PID\]/);
});

it('a worker that ends while its successor starts leaves no worker too many', async () => {
  const postroom = await launchWorkers();
  const before = workersOf(postroom);
  postroom.process.kill('SIGUSR2');
  await expect.poll(() => workersOf(postroom).length).toBe(3);
  for (const pid of before) process.kill(pid, 'SIGKILL');
  await untilLogged(postroom, 'the workers were replaced');
  await expect.poll(() => workersOf(postroom).length).toBe(2);
  expect((await restart(postroom)).status).toBe(0);
  expect(workersOf(postroom)).toHaveLength(2);
  expect(await postroom.stop()).toBe(0);
});

it('a successor that ends is started again while its predecessor has not ended', async () => {
  const postroom = await launchWorkers();
  const before = workersOf(postroom);
  const started = () => postroom.log.filter(({ msg }) => msg === 'started').length;
  for (const pid of before) process.kill(pid, 'SIGSTOP');
  postroom.process.kill('SIGUSR2');
  await expect.poll(() => workersOf(postroom).length).toBe(3);
  const successor = workersOf(postroom).find((pid) => !before.includes(pid));
  await expect.poll(started).toBeGreaterThan(2);
  process.kill(Number(successor), 'SIGKILL');
  await untilLogged(postroom, 'a worker ended, and is started again');
  // The first two, the successor, and the one after it.
  await expect.poll(started).toBe(4);
  for (const pid of before) process.kill(pid, 'SIGCONT');
  await untilLogged(postroom, 'the workers were replaced');
  await expect.poll(() => workersOf(postroom).length).toBe(2);
  expect(await postroom.stop()).toBe(0);
});

it('a worker that cannot be started is tried again, and the others are not replaced', async () => {
  const node = join(scratchFolder(), 'node');
  copyFileSync(process.execPath, node);
  const postroom = await launchWorkers({}, node);
  renameSync(node, `${node}-moved`);
  const [first, second] = workersOf(postroom);
  const { status, stderr } = await restart(postroom);
  expect([status, stderr]).toMatchObject([1, expect.stringMatching(/a worker could not start/)]);
  expect(workersOf(postroom)).toEqual([first, second]);
  process.kill(Number(first), 'SIGKILL');
  const failures = () => postroom.log.filter(({ message }) => String(message).includes('ENOENT')).length;
  await expect.poll(failures).toBeGreaterThan(1);
  expect((await ask(postroom, '{ __typename }', {})).status).toBe(200);
  renameSync(`${node}-moved`, node);
  await expect.poll(() => workersOf(postroom).length).toBe(2);
  expect((await restart(postroom)).status).toBe(0);
});

it('/metrics has the sums of all workers, which do not decrease when one ends; each has its own values with a label', async () => {
  const postroom = await launchWorkers();
  await openSockets(postroom, 12);
  await Promise.all(Array.from({ length: 20 }, () => ask(postroom, '{ __typename }', {})));
  const count = 'operations_total{type="query",code="OK"}';
  expect(await readMetrics(postroom)).toMatchObject({ websockets: 12, [count]: 20 });
  const workers = await readSamples(postroom, 'process_start_time_seconds');
  expect(workers.map(({ labels }) => labels?.['worker'])).toEqual(['1', '2']);
  const [first] = workersOf(postroom);
  process.kill(Number(first), 'SIGKILL');
  await untilLogged(postroom, 'a worker ended, and is started again');
  // A connection that is kept open may be to the worker that was killed.
  const metrics = await readMetrics(postroom).catch(() => readMetrics(postroom));
  expect(metrics[count]).toBe(20);
  expect(metrics['websockets']).toBeLessThan(12);
});

it('workers count the rate of a caller together', async () => {
  const limit = 1_000;
  const postroom = await launchWorkers({ RATE_LIMIT: String(limit) });
  await Promise.all(Array.from({ length: 40 }, () => ask(postroom, '{ __typename }', {})));
  let sent = 40;
  const next = async () => {
    sent += 1;
    return limit - (await ask(postroom, '{ __typename }', {})).remaining === sent;
  };
  await expect.poll(next).toBe(true);
});

it('workers count the open WebSockets of an address together', async () => {
  const postroom = await launchWorkers({ LIMIT_SOCKETS: '8' });
  await openSockets(postroom, 8);
  const openMore = async () => {
    const opened = await Promise.allSettled(Array.from({ length: 12 }, () => openSockets(postroom, 1)));
    const more = opened.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    for (const { webSocket } of more) webSocket.close();
    await Promise.all(more.map(({ closed }) => closed));
    return more.length;
  };
  await expect.poll(openMore).toBe(0);
});

it('one worker at a time deletes rows in the background, and another continues at once when it is killed', async () => {
  const file = join(scratchFolder(), 'postroom.db');
  const settings = { LOG_LEVEL: 'debug', DATABASE_URL: `sqlite:${file}` };
  expect((await run(['create-user', 'ada@example.org', '--name', 'Ada'], settings, 'correct horse\n')).status).toBe(0);
  writeManyRows(file);
  // As a process has left it that was killed.
  withDatabase(file, (database) => database.exec(`update rooms set "deletedAt" = 1, name = '' where id = 'r1'`));
  const postroom = await launchWorkers(settings);
  /** The workers that have run steps, in order. */
  const nodes = () => {
    const lines = postroom.log.filter(({ sql }) => String(sql).startsWith(findDeletedRoom));
    const inOrder = lines.toSorted((a, b) => String(a['time']).localeCompare(String(b['time'])));
    return inOrder.map(({ node }) => String(node)).filter((node, index, all) => node !== all[index - 1]);
  };
  await expect.poll(() => nodes().length).toBe(1);
  const [first = ''] = nodes();
  process.kill(Number(first.split('/')[1]), 'SIGKILL');
  await expect.poll(() => nodes().length).toBe(2);
  await expect.poll(() => postroom.log.filter(({ msg }) => msg === 'started').length).toBe(3);
  expect(nodes()).toHaveLength(2);
});

it('workers drain and end when their parent was killed', async () => {
  const postroom = await launchWorkers();
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
