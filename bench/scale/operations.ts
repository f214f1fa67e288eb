import { get } from 'node:http';
import { openDatabase } from '../../src/data/database/open-database.ts';
import { setRole } from '../../src/data/domain/users.ts';
import { createPost, signUp } from '../support/accounts.ts';
import { ask } from '../support/client.ts';
import { largeRoom, someRoom, someUser } from './generate.ts';

const post = '{ id title publishedAt author { id name } }';
const edges = `{ edges { cursor node ${post} } pageInfo { hasNextPage hasPreviousPage } }`;
const behind = 100;

export type Operations = Record<string, () => Promise<unknown>>;

let accounts = 0;

/** Signs up an account that is an admin. Returns its token. */
export async function signUpAdmin(port: number, url: string): Promise<string> {
  accounts = Date.now();
  const token = await signUp(port, accounts);
  const database = await openDatabase(url);
  await database.transaction((db) => setRole(db, `person${accounts}@example.org`, 'ADMIN'));
  await database.close();
  return token;
}

/** Operations that should cost the same in a database of any size. */
export async function chooseOperations(port: number): Promise<Operations> {
  const token = await signUp(port, Date.now());
  const inRoom = (room: string, args: string) => `{ room(id: "${room}") { posts(${args}) ${edges} } }`;
  const found = await ask(port, {
    query: `{ room(id: "${largeRoom}") { first: posts(first: 30) { edges { cursor } } last: posts(last: 30) { edges { cursor } } } }`,
  });
  const [first, last] = [found.room.first.edges[25].cursor, found.room.last.edges[5].cursor];
  const cursor = await findCursorBehind(port, token);
  const queries: Record<string, string> = {
    'a user by id': `{ user(id: "${someUser}") { id name } }`,
    'room by name': '{ roomByName(name: "room 3") { id name } }',
    'room posts, first: 20': inRoom(largeRoom, 'first: 20'),
    'room posts, last: 20': inRoom(largeRoom, 'last: 20'),
    'room posts, before a cursor near the start': inRoom(largeRoom, `last: 20, before: "${first}"`),
    'room posts, after a cursor near the end': inRoom(largeRoom, `first: 20, after: "${last}"`),
    'the first 20 posts': `{ posts(limit: 20) { data ${post} } }`,
    'the last 10 posts of a user': `{ user(id: "${someUser}") { posts(last: 10) ${post} } }`,
    'members of a room, last: 20': `{ room(id: "${largeRoom}") { members(last: 20) { nodes { id name } } } }`,
  };
  const subscribe = (after: string) =>
    `subscription { roomEvents(room: "${someRoom}"${after}) { cursor ... on PostCreated { post { id title } } } }`;
  return {
    ...Object.fromEntries(Object.entries(queries).map(([name, query]) => [name, () => ask(port, { query })])),
    createPost: () => createPost(port, token, { room: largeRoom, title: 'hello' }),
    subscribe: () => receive(port, subscribe(''), 0),
    [`resume ${behind} events behind`]: () => receive(port, subscribe(`, after: "${cursor}"`), behind),
  };
}

async function findCursorBehind(port: number, token: string): Promise<string> {
  const { room } = await ask(port, { query: `{ room(id: "${someRoom}") { cursor } }` });
  for (let count = 0; count < behind; count += 1) await createPost(port, token, { room: someRoom, title: 'hello' });
  return room.cursor;
}

/** Opens a stream and closes it after `count` events. */
function receive(port: number, query: string, count: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const path = `/graphql?query=${encodeURIComponent(query)}`;
  const sent = get({ host: '127.0.0.1', port, path, headers: { accept: 'text/event-stream' }, agent: false });
  sent.once('error', reject);
  sent.once('response', (response) => {
    let [left, text] = [count, ''];
    const end = () => {
      resolve();
      sent.destroy();
    };
    if (response.statusCode !== 200) reject(new Error(`${query} is answered with ${response.statusCode}.`));
    if (left === 0) end();
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const events = (text + chunk).split('\n\n');
      text = events.pop() ?? '';
      left -= events.filter((event) => event.includes('event: next')).length;
      if (left <= 0) end();
    });
  });
  return promise;
}
