import { subscribe as onPublished, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { readConfig } from '../src/config/config.ts';
import { createLog } from '../src/log/log.ts';
import { startServer } from '../src/server.ts';
import { inRepository } from './repository.ts';

/*
 * npm run paths lists the files of src that one query, one mutation and one resumed subscription pass, from socket to
 * socket. V8 counts the calls of each function; a request passes a file if one of the file's functions ran.
 */

const source = `file://${inRepository('src')}/`;
const postsQuery = '{ posts(limit: 10) { data { id title author { name } } } }';
const signUpMutation = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
const createRoomMutation = 'mutation { createRoom(input: { name: "path" }) { room { id cursor } } }';
const createPostMutation = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "a" }) { post { id } } }';
const subscription = 'subscription ($room: ID!) { postAdded(room: $room) { id title author { name } } }';

// Functions are counted only if they are compiled after this call.
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const folder = mkdtempSync(join(tmpdir(), 'postroom-paths-'));
const config = readConfig({ DATABASE_URL: `sqlite:${join(folder, 'postroom.db')}`, PORT: '0', LOG_LEVEL: 'error' });
const server = await startServer(config, createLog(config.logLevel));
try {
  await printPaths();
} finally {
  await server.close();
  rmSync(folder, { recursive: true });
}

async function printPaths(): Promise<void> {
  const input = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
  const { signUp } = await post(signUpMutation, { variables: { input } });
  const token: string = signUp.accessToken;
  const { createRoom } = await post(createRoomMutation, { token });
  const { id: room, cursor } = createRoom.room;
  const requests: Record<string, () => Promise<unknown>> = {
    query: () => post(postsQuery),
    'query with a token': () => post(postsQuery, { token }),
    mutation: () => post(createPostMutation, { variables: { room }, token }),
    'resumed subscription': () => resume({ token, room, cursor }),
  };
  for (const [name, send] of Object.entries(requests)) {
    const files = await filesOf(send);
    console.log(`${name}: ${files.length} files\n  ${files.join('\n  ')}`);
  }
}

/** Sends a request twice, because the first fills the caches. Returns the files that the second passes. */
async function filesOf(send: () => Promise<unknown>): Promise<string[]> {
  await send();
  await readFiles();
  await send();
  return readFiles();
}

/** The files whose functions ran since the last call. */
async function readFiles(): Promise<string[]> {
  // Listeners of the end of a response or of a socket run in this turn of the event loop.
  await nextTurn();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url }) => url.startsWith(source))
    .filter(({ functions }) => functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)))
    .map(({ url }) => url.slice(source.length))
    .sort();
}

interface Options {
  variables?: object;
  token?: string;
}

/** Returns the data of an operation when the server has finished its response. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is the operation's.
async function post(query: string, { variables = {}, token }: Options = {}): Promise<any> {
  const finished = nextMessage('http.server.response.finish');
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(`${query} failed: ${JSON.stringify(errors)}`);
  await finished;
  return data;
}

/** Resumes a subscription after `cursor`. Resolves when it has received an event and the server has closed the socket. */
async function resume({ token, room, cursor }: { token: string; room: string; cursor: string }): Promise<void> {
  const accepted = nextMessage('net.server.socket');
  const webSocket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
  const send = (message: object) => webSocket.send(JSON.stringify(message));
  const credentials = { authorization: `Bearer ${token}`, live: { seen: { a: cursor } } };
  webSocket.on('open', () => send({ type: 'connection_init', payload: credentials }));
  webSocket.on('message', (data) => {
    const { type } = JSON.parse(String(data));
    const payload = { query: subscription, variables: { room } };
    if (type === 'connection_ack') send({ id: 'a', type: 'subscribe', payload });
    if (type === 'next') webSocket.close();
    if (type === 'error') webSocket.emit('error', new Error(`The subscription failed: ${data}`));
  });
  const { socket } = (await accepted) as { socket: Socket };
  const serverClosed = once(socket, 'close');
  await once(webSocket, 'close');
  await serverClosed;
}

/** The next message of a diagnostics channel of node: https://nodejs.org/api/diagnostics_channel.html#built-in-channels */
function nextMessage(channel: string): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const receive = (message: unknown) => {
    unsubscribe(channel, receive);
    resolve(message);
  };
  onPublished(channel, receive);
  return promise;
}
