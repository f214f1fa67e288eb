import { beforeAll, expect, it } from 'vitest';
import { get } from '../support/clients/http.ts';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { scratchName } from '../support/rooms/names.ts';
import type { Person } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* Empty selection sets, which the GraphQL specification allows since September 2026. */

const server = shareServer();
let ada: Person;

beforeAll(async () => {
  ada = await server.postroom.signUp('Ada');
  await createRoom();
});

async function createRoom(): Promise<string> {
  const query = 'mutation ($name: String!) { createRoom(input: { name: $name }) { room { id } } }';
  return (await server.postroom.ask(query, { name: scratchName() }, ada.token)).createRoom.room.id;
}

it.each([
  ['{}', {}],
  ['{ ... {} }', {}],
  ['{ ...Nothing } fragment Nothing on Query {}', {}],
  ['mutation {}', {}],
  ['{ rooms {} }', { rooms: {} }],
  ['{ viewer {} user(id: "none") {} }', { viewer: {}, user: null }],
  ['{ rooms(limit: 1) { data {} pagination {} } }', { rooms: { data: [{}], pagination: {} } }],
  [
    '{ rooms(limit: 1) { data { owner {} posts { edges {} pageInfo {} } } } }',
    { rooms: { data: [{ owner: {}, posts: { edges: [], pageInfo: {} } }] } },
  ],
  [
    '{ rooms(limit: 1) { data { ... on Room {} owner {} owner { name } } } }',
    { rooms: { data: [{ owner: { name: 'Ada' } }] } },
  ],
])('the answer to %s has empty objects', async (query, data) => {
  expect(await server.postroom.send(query, {}, ada.token)).toMatchObject({ status: 200, data, errors: undefined });
});

it('a mutation without a selection is done', async () => {
  const name = scratchName();
  const create = 'mutation ($name: String!) { createRoom(input: { name: $name }) {} }';
  expect(await server.postroom.send(create, { name }, ada.token)).toMatchObject({
    status: 200,
    data: { createRoom: {} },
  });
  const { roomByName } = await server.postroom.ask('query ($name: String!) { roomByName(name: $name) {} }', { name });
  expect(roomByName).toEqual({});
});

it('an event without a selection has its cursor', async () => {
  const room = await createRoom();
  const socket = await ProtocolSocket.open(server.postroom.graphqlUrl);
  const { start, results } = socket.subscribe('1', 'subscription ($room: ID!) { roomEvents(room: $room) {} }', {
    room,
  });
  await start;
  const post = 'mutation ($room: ID!) { createPost(input: { room: $room, title: "Hello" }) {} }';
  await server.postroom.ask(post, { room }, ada.token);
  expect(await results.next()).toEqual({
    data: { roomEvents: {} },
    extensions: { live: { cursor: expect.any(String) } },
  });
});

it.each([
  ['subscription {}', 'must select one top level field'],
  ['{ rooms { data { id {} } } }', 'must not have a selection'],
  ['{ rooms { data { nothing {} } } }', 'Cannot query field'],
])('%s is not valid', async (query, message) => {
  expect(await server.postroom.send(query)).toMatchObject({
    status: 422,
    errors: [{ message: expect.stringContaining(message), extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
  });
});

it('an empty operation may be cached, and one that asks for the viewer may not', async () => {
  const cacheOf = async (query: string) => (await get(server.postroom, { query })).headers['cache-control'];
  expect(await cacheOf('{}')).toBe('public, max-age=0');
  expect(await cacheOf('{ viewer {} }')).toBe('private, no-store');
});
