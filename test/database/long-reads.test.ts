import { mkdtempSync, rmSync } from 'node:fs';
import { copyFile, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { post } from '../support/clients/http.ts';
import { makePosts } from '../support/clients/load.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { writeManyRows, writePrivateRooms } from '../support/database/many-rows.ts';
import {
  launchForTest,
  launchProcessForTest,
  type Postroom,
  scratchFolder,
  startInProcess,
} from '../support/server/postroom.ts';

/** A page that is read in a thread, and is not a costly operation. */
const deep = 'posts(page: 50001, limit: 1) { data { id } }';
const oneRead = `{ ${deep} }`;
const fiveReads = `{ a: ${deep} b: ${deep} c: ${deep} d: ${deep} e: ${deep} }`;

/** A database with many rows. Tests use copies, because writing the rows takes much longer than copying the file. */
const original = mkdtempSync(join(tmpdir(), 'postroom-test-'));

async function copyManyRows(): Promise<string> {
  const file = join(scratchFolder(), 'postroom.db');
  await copyFile(join(original, 'postroom.db'), file);
  return file;
}

async function launchWithManyRows(): Promise<{ postroom: Postroom; file: string }> {
  const file = await copyManyRows();
  return { postroom: await launchForTest({ DATABASE_URL: `sqlite:${file}` }), file };
}

async function openSocket(postroom: Postroom, name: string): Promise<ProtocolSocket> {
  const { token } = await postroom.signUp(name);
  return ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${token}` } });
}

let operations = 0;

function createOperationId(): string {
  operations += 1;
  return `operation ${operations}`;
}

function flood(socket: ProtocolSocket, count: number, query = fiveReads): string[] {
  const ids = Array.from({ length: count }, createOperationId);
  socket.send(...ids.map((id) => ({ type: 'subscribe', id, payload: { query } })));
  return ids;
}

function isAnswer({ type }: { type: string }): boolean {
  return type === 'next';
}

/** The codes of the errors in the answers to some operations; undefined for an answer without errors. */
async function takeCodes(socket: ProtocolSocket, ids: readonly string[]): Promise<(string | undefined)[]> {
  const codes = [];
  for (const _ of ids) {
    const { payload } = await socket.take((message) => isAnswer(message) && ids.includes(message.id ?? ''));
    codes.push(payload.errors?.[0].extensions.code);
  }
  return codes;
}

/** The reader threads that are started during the test. */
function watchThreads(): Worker[] {
  const threads: Worker[] = [];
  const add = (worker: Worker) => {
    if (worker.threadName === 'reader') threads.push(worker);
  };
  process.on('worker', add);
  onTestFinished(() => void process.off('worker', add));
  return threads;
}

it('a page of long bodies is read in a thread, and its long answer is complete on every transport', async () => {
  const threads = watchThreads();
  const postroom = await launchForTest();
  const author = await postroom.signUp('Ada');
  const room = await postroom.createRoom(author, 'hall');
  await makePosts(postroom, { author, room, count: 50, bytes: 20_000 });
  const query = `{ room(id: "${room}") { name posts(first: 50) { nodes { body author { name } } pageInfo { endCursor } edges { node { id } } } } rooms(filter: { name: "none" }) { data { id } } }`;
  await postroom.ask(`{ room(id: "${room}") { posts(first: 2) { nodes { body } } } }`);
  expect(threads).toHaveLength(0);
  const { body: json, data } = await post(postroom, query);
  expect(threads).toHaveLength(1);
  const body = 'x'.repeat(20_000);
  expect(data.room.posts.nodes).toEqual(Array(50).fill({ body, author: { name: 'Ada' } }));
  expect(data.rooms).toEqual({ data: [] });
  expect(json).toBe(JSON.stringify(JSON.parse(json)));
  const stream = await post(postroom, query, { headers: { accept: 'text/event-stream' } });
  expect(stream.body).toBe(`event: next\ndata: ${json}\n\nevent: complete\ndata:\n\n`);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  socket.send({ type: 'subscribe', id: 'long', payload: { query } });
  expect((await socket.take(isAnswer)).payload).toEqual(JSON.parse(json));
});

it('lists of visible rooms and posts are short beside any number of private rooms of others', async () => {
  const threads = watchThreads();
  const file = join(scratchFolder(), 'postroom.db');
  const postroom = await launchForTest({ DATABASE_URL: `sqlite:${file}` });
  const ada = await postroom.signUp('Ada');
  writePrivateRooms(file);
  const room = await postroom.createRoom(ada, 'hall');
  const post = await postroom.createPost(ada, room, 'hello');
  const [hall, hello] = [[{ id: room }], [{ id: post }]];
  for (const token of [undefined, ada.token]) {
    const answers = await postroom.ask(
      `{ rooms(limit: 1) { data { id } pagination { total } } newest: posts(order: NEWEST_FIRST, limit: 1) { data { id } }
        named: rooms(filter: { visibility: PUBLIC }) { data { id } } joined: rooms(filter: { member: "${ada.id}" }) { data { id } }
        posts(filter: { room: "${room}" }) { data { id } pagination { total } } user(id: "${ada.id}") { posts(last: 20) { id } }
        total: posts { pagination { total } } roomByName(name: "hall") { id } private: roomByName(name: "room") { id } }`,
      {},
      token,
    );
    expect(answers).toEqual({
      rooms: { data: hall, pagination: { total: 1 } },
      newest: { data: hello },
      named: { data: hall },
      joined: { data: hall },
      posts: { data: hello, pagination: { total: 1 } },
      user: { posts: hello },
      total: { pagination: { total: 1 } },
      roomByName: { id: room },
      private: null,
    });
  }
  expect(threads).toEqual([]);
});

describe('long reads', () => {
  beforeAll(async () => {
    const file = join(original, 'postroom.db');
    const postroom = await startInProcess({ DATABASE_URL: `sqlite:${file}` });
    await postroom.stop();
    writeManyRows(file);
  });
  afterAll(() => rmSync(original, { recursive: true }));

  it('are refused with 503 and Retry-After if a caller has too many, and only for this caller', async () => {
    const { postroom } = await launchWithManyRows();
    const other = await postroom.signUp('Ada');
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const ids = flood(socket, 30);
    const { payload } = await socket.take((message) => isAnswer(message) && message.payload.errors !== undefined);
    expect(payload.errors[0].extensions.code).toBe('SERVICE_UNAVAILABLE');
    // They are not refused because they have waited for too long.
    expect(socket.received.filter(isAnswer).length).toBeLessThan(ids.length / 2);
    const refused = await postroom.send(fiveReads);
    expect(refused).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect(refused.headers.get('retry-after')).toBe('1');
    expect((await postroom.send(oneRead, {}, other.token)).status).toBe(200);
    expect(postroom.log).toEqual([]);
  });

  it('of all API keys of one owner count together', async () => {
    const { postroom } = await launchWithManyRows();
    const ada = await postroom.signUp('Ada');
    const create = (name: string) => `${name}: createApiKey(input: { name: "app", scopes: [READ] }) { key }`;
    const { one, two } = await postroom.ask(`mutation { ${create('one')} ${create('two')} }`, {}, ada.token);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `ApiKey ${one.key}` } });
    flood(socket, 30);
    await socket.take((message) => isAnswer(message) && message.payload.errors !== undefined);
    const other = await post(postroom, fiveReads, { headers: { authorization: `ApiKey ${two.key}` } });
    expect(other).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect((await postroom.send(oneRead, {}, ada.token)).status).toBe(200);
  });

  it('of one caller delay neither the long read of another, nor changes, nor events', async () => {
    const { postroom } = await launchWithManyRows();
    const author = await postroom.signUp('Eve');
    const room = await postroom.createRoom(author, 'hall');
    const [many, one] = [await openSocket(postroom, 'Ada'), await openSocket(postroom, 'Bob')];
    await one.follow('events', `subscription { roomEvents(room: "${room}") { __typename } }`);
    // Both threads are started, so that the time of their start is not counted.
    for (const socket of [many, one]) flood(socket, 1, oneRead);
    for (const socket of [many, one]) await socket.take(isAnswer);
    const ids = flood(many, 19);
    await many.take(isAnswer);
    flood(one, 1, oneRead);
    await postroom.createPost(author, room, 'hello');
    await one.take(isAnswer);
    await one.take(isAnswer);
    const answered = many.received.filter((message) => isAnswer(message) && ids.includes(message.id ?? ''));
    expect(answered.length).toBeLessThan(ids.length / 2);
  });

  it('are forgotten when their client has left', async () => {
    const { postroom } = await launchWithManyRows();
    const socket = await openSocket(postroom, 'Ada');
    const ids = flood(socket, 20);
    await socket.take(isAnswer);
    socket.send(...ids.map((id) => ({ type: 'complete', id })));
    const codes = await takeCodes(socket, flood(socket, 8));
    expect(new Set(codes)).toEqual(new Set([undefined]));
  });

  it('stop while they run when their client has left', async () => {
    const threads = watchThreads();
    const { postroom } = await launchWithManyRows();
    const socket = await openSocket(postroom, 'Ada');
    await postroom.ask(oneRead);
    const replies: { error?: { message: string } }[] = [];
    for (const thread of threads) thread.on('message', (reply) => void replies.push(reply));
    const [id = ''] = flood(socket, 1, '{ posts(filter: { title: "no title contains this" }) { data { id } } }');
    await socket.settle();
    socket.complete(id);
    await expect.poll(() => replies).toMatchObject([{ error: { message: 'the read was cancelled' } }]);
    expect((await postroom.send(oneRead)).status).toBe(200);
  });

  it('fail with 503 when their thread ends, and the next one succeeds', async () => {
    const threads = watchThreads();
    const { postroom } = await launchWithManyRows();
    await postroom.ask(oneRead);
    const [thread] = threads as [Worker];
    thread.once('message', () => void thread.terminate());
    const failed = await postroom.send(fiveReads);
    expect(failed).toMatchObject({ status: 503, code: 'SERVICE_UNAVAILABLE' });
    expect((await postroom.send(fiveReads)).status).toBe(200);
    expect(threads).toHaveLength(2);
    expect(postroom.log).toMatchObject([{ msg: 'the database is not available' }]);
  });

  it('fail with 503 while the database file is replaced, and never read another file', async () => {
    const { postroom, file } = await launchWithManyRows();
    await rename(file, `${file}.moved`);
    await copyFile(`${file}.moved`, file);
    expect(await postroom.send(oneRead)).toMatchObject({ status: 503 });
    expect((await postroom.send('{ users(limit: 1) { data { id } } }')).status).toBe(200);
    await rename(`${file}.moved`, file);
    expect((await postroom.send(oneRead)).status).toBe(200);
  });

  it('do not keep the server from stopping', async () => {
    const postroom = await launchProcessForTest({ DATABASE_URL: `sqlite:${await copyManyRows()}` });
    await postroom.ask(oneRead);
    const socket = await openSocket(postroom, 'Ada');
    flood(socket, 20);
    await socket.take(isAnswer);
    expect(await postroom.stop()).toBe(0);
  });
});
