// Runs on SQLite and on PostgreSQL.
import { beforeAll, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer } from '../support/server/shared-server.ts';

/* A server with the extension of test/support/extensions/cards. */

const server = shareServer({ EXTENSIONS: './test/support/extensions/cards' });
let postroom: Postroom;
let ada: Person;

beforeAll(async () => {
  postroom = server.postroom;
  ada = await postroom.signUp('Ada');
});

const addDeck = `mutation ($room: ID!, $name: String!, $key: String!) {
  addDeck(room: $room, name: $name) @idempotent(key: $key) { deck { id name } }
}`;

it('a mutation with several rows and without an input is repeated with its key', async () => {
  const room = await postroom.createRoom(ada, 'decks');
  const variables = { room, name: 'Tarot', key: 'a-key-of-a-client' };
  const first = await postroom.ask(addDeck, variables, ada.token);
  expect(first.addDeck.deck).toEqual({ id: expect.stringMatching(/^deck/), name: 'Tarot' });
  expect(await postroom.ask(addDeck, variables, ada.token)).toEqual(first);
  expect((await postroom.send(addDeck, { ...variables, name: 'Skat' }, ada.token)).code).toBe('IDEMPOTENCY_KEY_REUSED');
});

it('@idempotent is refused by a mutation whose payload has no node', async () => {
  const room = await postroom.createRoom(ada, 'counts');
  const count = 'mutation ($room: ID!) { countCards(room: $room) @idempotent(key: "a-key-of-a-client") { count } }';
  expect((await postroom.send(count, { room }, ada.token)).code).toBe('VALIDATION_ERROR');
});

it('an event does not show a subject that has moved to another room', async () => {
  const room = await postroom.createRoom(ada, 'table');
  const createRoom = 'mutation { createRoom(input: { name: "sleeve", visibility: PRIVATE }) { room { id } } }';
  const hidden = (await postroom.ask(createRoom, {}, ada.token)).createRoom.room.id;
  const start = await postroom.cursorOf(room);
  const socket = await ProtocolSocket.open(postroom.webSocketUrl);
  const cards = `subscription ($room: ID!, $after: String) {
    cardAdded(room: $room, after: $after) { ... on CardAdded { card { id text room { name } } } }
  }`;
  const live = socket.subscribe('live', cards, { room });
  await live.start;
  await postroom.ask(addDeck, { room, name: 'Poker', key: 'another-key' }, ada.token);
  const { card } = (await live.results.next()).data.cardAdded;
  expect(card).toMatchObject({ text: 'first of Poker', room: { name: 'table' } });
  const move = 'mutation ($id: ID!, $room: ID!) { moveCard(input: { id: $id, room: $room }) { card { room { id } } } }';
  const moved = await postroom.ask(move, { id: card.id, room: hidden }, ada.token);
  expect(moved.moveCard.card.room.id).toBe(hidden);
  const replay = socket.subscribe('replay', cards, { room, after: start });
  expect((await replay.results.next()).data.cardAdded).toEqual({ card: null });
});
