// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* A server with the extension of test/support/extensions/slips, whose resolvers and changes have mistakes. */

const server = shareServer({ EXTENSIONS: './test/support/extensions/slips' });
const addSlip = 'mutation ($room: ID!, $what: String!) { addSlip(room: $room, what: $what) { slip { text } } }';
let postroom: Postroom;
let ada: Person;
let room: string;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
  room = await postroom.createRoom(ada, 'slips');
});

function lastFault(): unknown {
  return postroom.log.findLast(({ err }) => err)?.['err'];
}

describe('a change with a mistake fails alone', () => {
  it.each([
    ['an event of no extension', 'No extension has an event SlipAdd'],
    ['an event of Postroom', 'No extension has an event RoomUpdated'],
    ['an event of no room', 'There is no room'],
    ['an event without a subject', ''],
    ['an event without a store', 'store is not a function'],
    ['a failed statement that is not awaited', 'no_such_table'],
    ['a thrown null', 'null'],
  ])('%s', async (what, says) => {
    await expectUndone(what, 'INTERNAL_SERVER_ERROR');
    expect(lastFault()).toMatchObject({ message: expect.stringContaining(says) });
  });

  // As if it waited for a lock or for the database.
  it.each(['a wait without end', 'a store without end'])('%s', { timeout: 30_000 }, (what) =>
    expectUndone(what, 'SERVICE_UNAVAILABLE'),
  );

  async function expectUndone(what: string, code: string): Promise<void> {
    const cursor = await postroom.cursorOf(room);
    expect((await postroom.send(addSlip, { room, what }, ada.token)).code).toBe(code);
    expect(await postroom.cursorOf(room)).toBe(cursor);
    const { addSlip: added } = await postroom.ask(addSlip, { room, what: 'nothing wrong' }, ada.token);
    expect(added.slip.text).toBe('nothing wrong');
  }
});

describe('a field that returns what it must not is null, with an error', () => {
  it.each([
    'a symbol',
    'an object that cannot be serialised',
    'a batch without a map',
    'a write by a read',
  ])('%s', async (what) => {
    await postroom.ask(addSlip, { room, what: 'kept' }, ada.token);
    const { code, data } = await postroom.send('query ($what: String!) { slips(what: $what) }', { what });
    expect({ code, data }).toEqual({ code: 'INTERNAL_SERVER_ERROR', data: { slips: null } });
  });
});

describe('an event whose resolver throws holds up no other event', () => {
  it.each([
    'undefined',
    'a text',
    'an error that is its own cause',
    'an error without a readable message',
    'an error of 5 MB',
    'an error with an unknown code',
    'an error that cannot be serialised',
  ])('%s', async (what) => {
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const query = `subscription ($room: ID!, $what: String!) {
      roomEvents(room: $room) { __typename ... on SlipAdded { slip { thrown(what: $what) } } }
    }`;
    const { results, start } = socket.subscribe('live', query, { room, what });
    await start;
    await postroom.ask(addSlip, { room, what: 'live' }, ada.token);
    await postroom.createPost(ada, room, 'after');
    const [failed, after] = await results.take(2);
    expect(failed?.errors?.[0]?.extensions.code).toBe('INTERNAL_SERVER_ERROR');
    expect(failed?.extensions.live.cursor).toBeDefined();
    expect(after?.data.roomEvents.__typename).toBe('PostCreated');
  });
});
