// Runs on SQLite and on PostgreSQL.
import { beforeAll, describe, expect, it } from 'vitest';
import { ProtocolSocket } from '../support/clients/protocol-socket.ts';
import { InboxStream } from '../support/inbox/inbox-stream.ts';
import type { Person, Postroom } from '../support/server/postroom.ts';
import { shareServer, withDatabase } from '../support/server/shared-server.ts';

/* A server with the extension of examples/extensions/tasks. */

const fields = 'id title column version room { id }';
const addTask = `mutation ($room: ID!, $title: String!) { addTask(input: { room: $room, title: $title }) { task { ${fields} } } }`;
const addOnce = `mutation ($room: ID!, $title: String!, $key: String!) {
  addTask(input: { room: $room, title: $title }) @idempotent(key: $key) { task { id } }
}`;
const moveTask = `mutation ($id: ID!, $column: String!, $before: ID, $version: Int) {
  moveTask(input: { id: $id, column: $column, before: $before, expectedVersion: $version }) { task { ${fields} } }
}`;
const event = `__typename cursor actor { id } ... on TaskAdded { task { title column } } ... on TaskMoved { task { title column } }`;
const taskChanged = `subscription ($room: ID!, $after: String) { taskChanged(room: $room, after: $after) { ${event} } }`;
const roomEvents = `subscription ($room: ID!, $after: String, $types: [RoomEventType!]) {
  roomEvents(room: $room, after: $after, types: $types) { ${event} }
}`;

const server = shareServer({ EXTENSIONS: './examples/extensions/tasks' });
let postroom: Postroom;
let ada: Person;
let bob: Person;

beforeAll(async () => {
  postroom = server.postroom;
  [ada, bob] = [await postroom.signUp('Ada'), await postroom.signUp('Bob')];
});

async function createBoard(name: string, visibility = 'PUBLIC'): Promise<string> {
  const query = `mutation ($name: String!, $visibility: RoomVisibility!) {
    createRoom(input: { name: $name, visibility: $visibility }) { room { id } }
  }`;
  return (await postroom.ask(query, { name, visibility }, ada.token)).createRoom.room.id;
}

async function add(room: string, title: string): Promise<string> {
  return (await postroom.ask(addTask, { room, title }, ada.token)).addTask.task.id;
}

interface Placed {
  title: string;
  column: string;
  position: number;
  version: number;
}

const titleIn = (name: string) => (task: Placed) => (task.column === name ? [`${task.title}${task.version}`] : []);

describe('a task', () => {
  it('is added, moved, read as a node and in the connection of its room', async () => {
    const room = await createBoard('reads');
    const id = await add(room, 'Write it');
    const { moveTask: moved } = await postroom.ask(moveTask, { id, column: 'Done', version: 1 }, ada.token);
    const task = { id, title: 'Write it', column: 'Done', version: 2, room: { id: room } };
    expect(moved.task).toEqual(task);
    await add(room, 'Test it');
    const page = `query ($room: ID!, $id: ID!) {
      node(id: $id) { __typename ... on Task { ${fields} } }
      room(id: $room) { tasks(first: 1) { nodes { title } pageInfo { hasNextPage endCursor } } }
    }`;
    const { node, room: found } = await postroom.ask(page, { room, id });
    expect(node).toEqual({ __typename: 'Task', ...task });
    expect(found.tasks.nodes).toEqual([{ title: 'Write it' }]);
    expect(found.tasks.pageInfo.hasNextPage).toBe(true);
    const after = found.tasks.pageInfo.endCursor;
    const next = `query ($room: ID!, $after: String) { room(id: $room) { tasks(after: $after) { edges { node { title } } } } }`;
    expect((await postroom.ask(next, { room, after })).room.tasks.edges).toEqual([{ node: { title: 'Test it' } }]);
  });

  it('obeys the rules of inputs, versions, members and rooms', async () => {
    const room = await createBoard('rules', 'PRIVATE');
    const id = await add(room, 'Secret');
    expect((await postroom.send(addTask, { room, title: '' }, ada.token)).code).toBe('VALIDATION_ERROR');
    expect((await postroom.send(addTask, { room, title: 'x' }, bob.token)).code).toBe('NOT_FOUND');
    expect((await postroom.send(addTask, { room, title: 'x' })).code).toBe('UNAUTHENTICATED');
    expect((await postroom.send(moveTask, { id, column: 'x' }, bob.token)).code).toBe('NOT_FOUND');
    expect((await postroom.send(moveTask, { id, column: 'x', version: 9 }, ada.token)).code).toBe('CONFLICT');
    expect((await postroom.ask('query ($id: ID!) { node(id: $id) { id } }', { id }, bob.token)).node).toBeNull();
    const open = await createBoard('open');
    expect((await postroom.send(addTask, { room: open, title: 'x' }, bob.token)).code).toBe('FORBIDDEN');
  });

  it('is moved to a place in a column, and no other task is changed', async () => {
    const room = await createBoard('order');
    const [a, b, c] = [await add(room, 'a'), await add(room, 'b'), await add(room, 'c')];
    const move = async (id: string, before?: string, column = 'To do') => {
      const { code } = await postroom.send(moveTask, { id, column, before }, ada.token);
      const query = 'query ($room: ID!) { room(id: $room) { tasks { nodes { title column position version } } } }';
      const { nodes } = (await postroom.ask(query, { room })).room.tasks;
      const listed = nodes.toSorted((one: Placed, other: Placed) => one.position - other.position);
      return [code ?? '', ...['To do', 'Done'].map((name) => listed.flatMap(titleIn(name)).join(' '))];
    };
    expect(await move(c, a)).toEqual(['', 'c2 a1 b1', '']);
    expect(await move(b, a)).toEqual(['', 'c2 b2 a1', '']);
    expect(await move(c)).toEqual(['', 'b2 a1 c3', '']);
    expect(await move(a, undefined, 'Done')).toEqual(['', 'b2 c3', 'a2']);
    expect(await move(b, a, 'Done')).toEqual(['', 'c3', 'b3 a2']);
    expect(await move(c, a)).toEqual(['CONFLICT', 'c3', 'b3 a2']);
    // Each move between the same two halves the distance: then another task has to be moved.
    await move(c, a, 'Done');
    const codes = [];
    for (let moves = 0; moves < 40; moves += 1) codes.push((await move(moves % 2 ? c : b, a, 'Done'))[0]);
    expect([codes[20], codes.at(-1)]).toEqual(['', 'CONFLICT']);
    expect(await move(a, undefined, 'Done')).toEqual(['', '', expect.stringMatching(/a3$/)]);
  });

  it('has a position of its own, also if many are added at once', async () => {
    const room = await createBoard('at once');
    await Promise.all(Array.from({ length: 12 }, (_, number) => add(room, `${number}`)));
    const query = 'query ($room: ID!) { room(id: $room) { tasks { nodes { position } } } }';
    const { nodes } = (await postroom.ask(query, { room })).room.tasks;
    expect(new Set(nodes.map(({ position }: Placed) => position)).size).toBe(12);
  });

  it('is added once by a mutation that is repeated with its key', async () => {
    const room = await createBoard('once');
    const variables = { room, title: 'Once', key: 'a-key-of-a-client' };
    const first = await postroom.ask(addOnce, variables, ada.token);
    expect(await postroom.ask(addOnce, variables, ada.token)).toEqual(first);
    const { room: found } = await postroom.ask('query ($room: ID!) { room(id: $room) { tasks { nodes { id } } } }', {
      room,
    });
    expect(found.tasks.nodes).toEqual([first.addTask.task]);
  });
});

describe('the events of tasks', () => {
  it('arrive in roomEvents, taskChanged and the inbox in one order with posts, and are replayed after a cursor', async () => {
    const room = await createBoard('events');
    const start = await postroom.cursorOf(room);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl);
    const all = socket.subscribe('all', roomEvents, { room });
    const own = socket.subscribe('own', taskChanged, { room });
    const inbox = await InboxStream.open(postroom, ada);
    await Promise.all([all.start, own.start]);
    const id = await add(room, 'Ship it');
    await postroom.createPost(ada, room, 'between');
    await postroom.ask(moveTask, { id, column: 'Done' }, ada.token);
    const types = ['TaskAdded', 'PostCreated', 'TaskMoved'];
    const events = (await all.results.take(3)).map(({ data }) => data.roomEvents);
    expect(events.map(({ __typename }) => __typename)).toEqual(types);
    expect(events[0]).toMatchObject({ actor: { id: ada.id }, task: { title: 'Ship it', column: 'To do' } });
    expect((await own.results.take(2)).map(({ data }) => data.taskChanged)).toEqual([events[0], events[2]]);
    expect([await inbox.next(), await inbox.next(), await inbox.next()].map(({ __typename }) => __typename)).toEqual(
      types,
    );
    const replay = socket.subscribe('replay', taskChanged, { room, after: start });
    // A replay has the task as it is now.
    const replayed = (await replay.results.take(2)).map(({ data }) => data.taskChanged);
    expect(replayed).toEqual([{ ...events[0], task: { title: 'Ship it', column: 'Done' } }, events[2]]);
    const moved = socket.subscribe('moved', roomEvents, { room, types: ['TaskMoved'], after: start });
    expect((await moved.results.next()).data.roomEvents).toEqual(events[2]);
  });

  it('end for a member who is removed', async () => {
    const room = await createBoard('members', 'PRIVATE');
    const membership = { room, user: bob.id };
    const change = (name: string) =>
      `mutation ($room: ID!, $user: ID!) { ${name}(input: { room: $room, user: $user }) { room { id } } }`;
    await postroom.ask(change('addRoomMember'), membership, ada.token);
    const socket = await ProtocolSocket.open(postroom.webSocketUrl, { init: { authorization: `Bearer ${bob.token}` } });
    const { results, start, refused } = socket.subscribe('own', taskChanged, { room });
    await start;
    await add(room, 'Seen');
    expect((await results.next()).data.taskChanged.task).toEqual({ title: 'Seen', column: 'To do' });
    await postroom.ask(change('removeRoomMember'), membership, ada.token);
    await add(room, 'Not seen');
    expect((await refused)[0]?.extensions.code).toBe('MEMBERSHIP_REVOKED');
  });
});

describe('the rows of tasks', () => {
  const count = 'query ($room: ID!) { room(id: $room) { tasks(first: 100) { nodes { title } } } }';

  it('are deleted with their room, in steps', async () => {
    const room = await createBoard('deleted');
    const ids: string[] = [];
    for (let number = 0; number < 120; number += 1) ids.push(await add(room, `${number}`));
    await postroom.ask(
      'mutation ($id: ID!) { deleteRoom(input: { id: $id }) { room { id } } }',
      { id: room },
      ada.token,
    );
    const find = () =>
      withDatabase(server.databaseFile, (database) =>
        Number(database.prepare('select count(*) as "rows" from "tasks_tasks" where "roomId" = ?').get(room)?.['rows']),
      );
    expect(find()).toBeLessThan(120);
    await expect.poll(find).toBe(0);
  });

  it('of an account are deleted with its posts, and stay without', async () => {
    const room = await createBoard('authors');
    for (const [name, deletePosts] of [
      ['Eve', true],
      ['Mia', false],
    ] as const) {
      const author = await postroom.signUp(name);
      await postroom.ask(
        'mutation ($room: ID!) { joinRoom(input: { room: $room }) { room { id } } }',
        { room },
        author.token,
      );
      await postroom.ask(addTask, { room, title: name }, author.token);
      const remove =
        'mutation ($id: ID!, $deletePosts: Boolean!) { deleteUser(input: { id: $id, deletePosts: $deletePosts }) { user { id } } }';
      await postroom.ask(remove, { id: author.id, deletePosts }, author.token);
    }
    await expect.poll(async () => (await postroom.ask(count, { room })).room.tasks.nodes).toEqual([{ title: 'Mia' }]);
  });
});
