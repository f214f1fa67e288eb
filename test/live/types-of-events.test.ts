// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket, type Result } from '../support/clients/protocol-socket.ts';
import { InboxStream } from '../support/inbox/inbox-stream.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* Subscriptions that select events by their types. */

const query = `subscription ($room: ID!, $after: String, $types: [RoomEventType!]) {
  roomEvents(room: $room, after: $after, types: $types) { __typename cursor }
}`;
const updateRoom =
  'mutation ($room: ID!, $name: String!) { updateRoom(input: { id: $room, name: $name }) { room { id } } }';

const server = shareServer();
let postroom: Postroom;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  postroom = server.postroom;
  [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
});

function typesOf(messages: Result[]): string[] {
  return messages.map(({ data }) => data.roomEvents.__typename);
}

describe('roomEvents with types', () => {
  it('sends only these, live and in a replay, and resumes after a cursor of any event', async () => {
    const room = await postroom.createRoom(ada, 'filtered');
    const start = await postroom.cursorOf(room);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const types = ['RoomUpdated', 'PostDeleted'];
    const live = socket.subscribe('live', query, { room, types });
    const all = socket.subscribe('all', query, { room });
    await Promise.all([live.start, all.start]);
    await postroom.createPost(ada, room, 'one');
    await postroom.ask(updateRoom, { room, name: 'filtered 2' }, ada.token);
    const id = await postroom.createPost(ada, room, 'two');
    await postroom.ask('mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }', { id }, ada.token);
    expect(typesOf(await live.results.take(2))).toEqual(['RoomUpdated', 'PostDeleted']);
    const events = await all.results.take(4);
    expect(typesOf(events)).toEqual(['PostCreated', 'RoomUpdated', 'PostCreated', 'PostDeleted']);
    const replay = socket.subscribe('replay', query, { room, types, after: start });
    expect(typesOf(await replay.results.take(2))).toEqual(['RoomUpdated', 'PostDeleted']);
    const after = events[2]?.data.roomEvents.cursor;
    expect(typesOf(await socket.subscribe('rest', query, { room, types, after }).results.take(1))).toEqual([
      'PostDeleted',
    ]);
  });

  it('refuses a type that it does not know, by its name', async () => {
    const room = await postroom.createRoom(ada, 'unknown type');
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const [error] = await socket.subscribe('1', query, { room, types: ['PostPinned'] }).refused;
    expect(error).toMatchObject({ extensions: { code: 'VARIABLES_INVALID' } });
    expect(error?.message).toContain('PostPinned');
  });
});

it('an inbox with types sends these, and the events by which its rooms begin and end', async () => {
  const room = await postroom.createRoom(ada, 'filtered inbox');
  const filtered = `subscription { inbox(types: [PostDeleted]) {
    __typename cursor at room { id name } actor { id } ... on MemberJoined { user { id } } ... on MemberLeft { user { id } }
  } }`;
  const inbox = await InboxStream.open(postroom, bob, { query: filtered });
  await postroom.ask('mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }', { room }, bob.token);
  const id = await postroom.createPost(ada, room, 'one');
  await postroom.ask('mutation ($id: ID!) { deletePost(input: { id: $id }) { post { id } } }', { id }, ada.token);
  await postroom.ask(
    'mutation ($room: ID!) { leaveRoom(input: { room: $room }) { room { id } } }',
    { room },
    bob.token,
  );
  const events = [await inbox.next(), await inbox.next(), await inbox.next()];
  expect(events.map(({ __typename }) => __typename)).toEqual(['MemberJoined', 'PostDeleted', 'MemberLeft']);
});
