// Runs on SQLite and on PostgreSQL.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { launchProcessForTest, scratchFolder, unbundledProgram } from '../support/server/postroom.ts';

/* Nodes with and without an extension on one database. */

const add = 'mutation ($room: ID!, $title: String!) { addTask(input: { room: $room, title: $title }) { task { id } } }';
const events = (own = '') => `subscription ($room: ID!, $after: String) {
  roomEvents(room: $room, after: $after) { __typename cursor ${own} }
}`;
const withTask = events('... on TaskAdded { task { title } }');

it('an extension is added node by node and taken away, and each client receives every event once', async () => {
  const plain = { DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}` };
  const extended = { ...plain, EXTENSIONS: './examples/extensions/tasks' };
  const first = await launchProcessForTest(plain, unbundledProgram);
  const ada = await first.signUp('Ada');
  const room = await first.createRoom(ada, 'board');
  const start = await first.cursorOf(room);
  const second = await launchProcessForTest(extended, unbundledProgram);
  const [without, own] = [
    await ProtocolSocket.open(first.webSocketUrl),
    await ProtocolSocket.open(second.webSocketUrl),
  ];
  const [onFirst, onSecond] = [without.subscribe('1', events(), { room }), own.subscribe('1', withTask, { room })];
  await Promise.all([onFirst.start, onSecond.start]);
  await second.ask(add, { room, title: 'One' }, ada.token);
  await first.createPost(ada, room, 'between');
  await second.ask(add, { room, title: 'Two' }, ada.token);
  const known = (await onSecond.results.take(3)).map(({ data }) => data.roomEvents);
  expect(known.map(({ __typename, task }) => [__typename, task?.title])).toEqual([
    ['TaskAdded', 'One'],
    ['PostCreated', undefined],
    ['TaskAdded', 'Two'],
  ]);
  const cursors = known.map(({ cursor }) => cursor);
  const types = ['OtherEvent', 'PostCreated', 'OtherEvent'];
  const unknown = types.map((__typename, index) => ({ __typename, cursor: cursors[index] }));
  expect((await onFirst.results.take(3)).map(({ data }) => data.roomEvents)).toEqual(unknown);
  await second.stop();

  // Taken away: the client resumes on the other node, after any cursor.
  expect((await first.send(add, { room, title: 'Three' }, ada.token)).status).toBe(422);
  const resumed = without.subscribe('2', events(), { room, after: start });
  expect((await resumed.results.take(3)).map(({ data }) => data.roomEvents)).toEqual(unknown);
  await first.stop();

  // Added again: the rows are there, and its migrations do not run twice.
  const again = await launchProcessForTest(extended, unbundledProgram);
  const replay = (await ProtocolSocket.open(again.webSocketUrl)).subscribe('1', withTask, { room, after: start });
  expect((await replay.results.take(3)).map(({ data }) => data.roomEvents)).toEqual(known);
});
