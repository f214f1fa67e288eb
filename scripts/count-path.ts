import { mkdtempSync, rmSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { readConfig } from '../src/config.ts';
import { createLog } from '../src/log.ts';
import { startServer } from '../src/server.ts';
import { inRepository } from './repository.ts';

/*
 * Lists the files of src that one query, one mutation and one resumed subscription pass, from socket to socket.
 * V8 counts the calls of each function; a file is on the path if one of its functions ran.
 */

const source = `file://${inRepository('src')}/`;
const folder = mkdtempSync(join(tmpdir(), 'postroom-path-'));
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

const config = readConfig({ DATABASE_URL: `sqlite:${join(folder, 'db.sqlite')}`, PORT: '0', LOG_LEVEL: 'error' });
const server = await startServer(config, createLog('error'));
const url = `${server.url}/graphql`;

/** Runs `work` twice, because the first run fills the caches, and returns the files that the second run passed. */
async function filesOf(work: () => Promise<unknown>): Promise<string[]> {
  await work();
  // The effects of the first run, such as a closed socket, end in later turns of the event loop.
  await new Promise((resolve) => setTimeout(resolve, 300));
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const ours = result.filter(({ url }) => url.startsWith(source));
  const ran = ours.filter(
    ({ functions }) =>
      functions.some(({ functionName, ranges }) => functionName !== '' || ranges.length > 0) &&
      functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
  );
  return ran.map(({ url }) => url.slice(source.length)).sort();
}

async function post(query: string, variables: object = {}, token?: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ query, variables }) });
  const { data, errors } = await response.json();
  if (errors) throw new Error(JSON.stringify(errors));
  return data;
}

function subscribe(token: string, room: string, after: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws');
    const send = (message: object) => socket.send(JSON.stringify(message));
    const live = { seen: { a: after } };
    socket.on('error', reject);
    socket.on('open', () => send({ type: 'connection_init', payload: { authorization: `Bearer ${token}`, live } }));
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      const query = 'subscription ($room: ID!) { postAdded(room: $room) { id title author { name } } }';
      if (message.type === 'connection_ack')
        send({ id: 'a', type: 'subscribe', payload: { query, variables: { room } } });
      if (message.type === 'next') socket.close();
    });
    socket.on('close', () => resolve());
  });
}

const account = 'mutation ($input: SignUpInput!) { signUp(input: $input) { accessToken } }';
const input = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };
const { signUp } = (await post(account, { input })) as { signUp: { accessToken: string } };
const token = signUp.accessToken;
const { createRoom } = (await post(
  'mutation { createRoom(input: { name: "path" }) { room { id cursor } } }',
  {},
  token,
)) as { createRoom: { room: { id: string; cursor: string } } };
const { room } = createRoom;
const createPost = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "a" }) { post { id } } }';

const paths = {
  query: await filesOf(() => post('{ posts(limit: 10) { data { id title author { name } } } }')),
  'query with a token': await filesOf(() =>
    post('{ posts(limit: 10) { data { id title author { name } } } }', {}, token),
  ),
  mutation: await filesOf(() => post(createPost, { room: room.id }, token)),
  'resumed subscription': await filesOf(() => subscribe(token, room.id, room.cursor)),
};
for (const [name, files] of Object.entries(paths))
  console.log(`${name}: ${files.length} files\n  ${files.join('\n  ')}`);
await server.close();
rmSync(folder, { recursive: true });
