import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, parse, validate } from 'graphql';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { launchProcessForTest, run, scratchFolder, unbundledProgram } from '../support/server/postroom.ts';

/* Starts that are refused because an extension has a problem. Each change of examples/extensions/tasks makes one. */

const taskSchema = readFileSync(new URL('../../examples/extensions/tasks/schema.graphql', import.meta.url), 'utf8');
const root = new URL('../..', import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), 'postroom-test-'));

beforeEach(() => cpSync(join(root, 'examples/extensions/tasks'), folder, { recursive: true }));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type File = 'index.ts' | 'schema.graphql';

const problems: [says: string, file: File, from: string, to: string][] = [
  ['Room.tasks has no resolver', 'index.ts', '    Room: {', '    User: {'],
  [
    'Task.title has no resolver, and is no column of Task',
    'index.ts',
    "'roomId', 'title', 'column'",
    "'roomId', 'column'",
  ],
  [
    'TaskMoved is in events, and the schema has no type TaskMoved implements RoomEvent',
    'schema.graphql',
    'TaskMoved implements RoomEvent',
    'TaskMoved',
  ],
  [
    'TaskMoved implements RoomEvent, and is not in events',
    'index.ts',
    ", TaskMoved: { subject: 'Task', changesContent: true }",
    '',
  ],
  ['Task implements Node, and is not in nodes', 'index.ts', '    Task: {\n      prefix', '    Chore: {\n      prefix'],
  [
    'schema.graphql: Interface field RoomEvent.at expected but TaskAdded does not provide it.',
    'schema.graphql',
    'TaskAdded implements RoomEvent {',
    'TaskAdded implements RoomEvent { when: DateTime! @deprecated } type Unused {',
  ],
  [
    'schema.graphql: Field "Room.name" already exists in the schema.',
    'schema.graphql',
    'extend type Room {',
    'extend type Room { name: String',
  ],
  [
    'schema.graphql: Type "Post" already exists in the schema.',
    'schema.graphql',
    'type TaskEdge {',
    'type Post { id: ID! } type TaskEdge {',
  ],
  ['schema.graphql: Syntax Error', 'schema.graphql', 'type TaskEdge {', 'type TaskEdge'],
  [
    'TaskAdded.labels is a list without @listSize',
    'schema.graphql',
    'TaskAdded implements RoomEvent {',
    'TaskAdded implements RoomEvent { labels: [String!]!',
  ],
  [
    'TaskAdded.task must be nullable',
    'schema.graphql',
    'task: Task }\n"A task was moved',
    'task: Task! }\n"A task was moved',
  ],
  [
    'the name of the table posts must begin with tasks_',
    'index.ts',
    'on "tasks_tasks" ("authorId")',
    'on "posts" ("authorId")',
  ],
  ['no migration creates the table tasks_notes', 'index.ts', 'tables: {', 'tables: { tasks_notes: {},'],
  [
    'its name must be 2 to 20 small letters and digits',
    'index.ts',
    "name: 'tasks',\n  comp",
    "name: 'My tasks',\n  comp",
  ],
  ['its name is taken', 'index.ts', "name: 'tasks',\n  comp", "name: 'postroom',\n  comp"],
  ['the prefix p of Task is taken', 'index.ts', "prefix: 't'", "prefix: 'p'"],
  ['it works with Postroom ^9.1 (such as ^0.1), and this is 0.', 'index.ts', "'^0.1'", "'^9.1'"],
  [
    'Subscription.taskChanged is fed by nothing: use fromRoomEvents',
    'index.ts',
    "fromRoomEvents('TaskAdded', 'TaskMoved')",
    '() => undefined',
  ],
  [
    'Subscription.taskChanged must have the arguments room: ID! and after: String',
    'schema.graphql',
    'after: String): RoomEvent!',
    'after: [String]): RoomEvent!',
  ],
  [
    'Subscription.taskChanged is fed by TaskAdde, which is no event',
    'index.ts',
    "fromRoomEvents('TaskAdded'",
    "fromRoomEvents('TaskAdde'",
  ],
  ['Room.tasks is a list without @listSize', 'schema.graphql', /@listSize.*/.exec(taskSchema)?.[0] ?? '', ''],
  [
    'Mutation.createPost has a resolver, and is no field of the extension',
    'index.ts',
    '    Mutation: {',
    '    Mutation: { createPost: () => null,',
  ],
  [
    'Board.name has a resolver, and is no field of the extension',
    'index.ts',
    '  resolvers: {',
    '  resolvers: { Board: { name: () => null },',
  ],
  [
    'the prefix t of Task is taken',
    'index.ts',
    '  nodes: {',
    "  nodes: { TaskEdge: { prefix: 't', table: 'tasks_tasks', columns: [] },",
  ],
  ['EXTENSIONS: columns is not iterable', 'index.ts', "columns: ['id'", "fields: ['id'"],
  [
    '"TaskEvent" is missing a "__resolveType" resolver',
    'schema.graphql',
    'type TaskConnection',
    'union TaskEvent = TaskAdded\ntype TaskConnection',
  ],
  ['autorId', 'index.ts', "author: 'authorId'", "author: 'autorId'"],
  [
    'schema.graphql: extend enum RoomVisibility: only object types can be extended',
    'schema.graphql',
    '"A task was added',
    'extend enum RoomVisibility { SECRET }\n"A task was added',
  ],
  [
    'schema.graphql: extend input CreatePostInput: only object types can be extended',
    'schema.graphql',
    '"A task was added',
    'extend input CreatePostInput { task: ID }\n"A task was added',
  ],
  [
    'TaskAdded.note has no resolver',
    'schema.graphql',
    'TaskAdded implements RoomEvent {',
    'TaskAdded implements RoomEvent { note: String  version: Int!',
  ],
  ['the default export of', 'index.ts', 'export default', 'export const tasks ='],
  [
    'cannot be imported: no such column',
    'index.ts',
    'export default',
    "if (Date.now() > 0) throw new Error('no such column');\nexport default",
  ],
];

it.each(problems)('%s', async (says, file, from, to) => {
  const path = join(folder, file);
  const text = readFileSync(path, 'utf8');
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  writeFileSync(path, changed);
  const { status, stdout, stderr } = await start(folder);
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain(says);
  expect(stderr).not.toContain('    at ');
});

it('all problems of all extensions are named at once', async () => {
  const { stderr } = await start(`${join(folder, 'missing')},no-such-package`);
  expect(stderr).toContain('EXTENSIONS must be folders and packages with an extension: there is no ');
  expect(stderr).toContain('there is no package of this name');
  const twice = await start(`${folder},${folder}`);
  expect(twice.stderr).toContain('extension tasks: its name is taken');
  expect(twice.stderr).toContain('extension tasks: schema.graphql: Type "Task" already exists in the schema.');
});

it('`postroom validate` names them, too, and `postroom schema` prints the types of extensions', async () => {
  const settings = { EXTENSIONS: './examples/extensions/tasks', DATABASE_URL: 'sqlite::memory:', PORT: '0' };
  const [program = ''] = unbundledProgram;
  expect((await run(['validate'], settings, '', program)).stdout).toContain('schema: ok');
  // A field without a description has that of the interface.
  const described =
    /type TaskAdded implements RoomEvent \{\n {2}"""\n {2}The position of this event in the room's stream\./;
  const { stdout } = await run(['schema'], settings, '', program);
  expect(stdout).toMatch(described);
  // What code generators do with it.
  const document =
    'subscription ($room: ID!) { taskChanged(room: $room) { ... on TaskMoved { cursor task { title } } } }';
  expect(validate(buildSchema(stdout), parse(document))).toEqual([]);
  const types = JSON.parse((await run(['schema', '--possible-types'], settings, '', program)).stdout);
  expect(types.RoomEvent).toContain('TaskAdded');
  const refused = await run(['validate'], { ...settings, EXTENSIONS: './nowhere' }, '', program);
  expect(refused.stdout).toContain(
    'schema: failed: EXTENSIONS must be folders and packages with an extension: there is no ',
  );
});

it('a timer of an extension keeps no command running, and cuts off no output', async () => {
  const path = join(folder, 'index.ts');
  writeFileSync(path, `setInterval(() => {}, 1_000);\n${readFileSync(path, 'utf8')}`);
  const settings = { EXTENSIONS: folder, DATABASE_URL: 'sqlite::memory:', PORT: '0' };
  const [program = ''] = unbundledProgram;
  expect((await run(['schema'], settings, '', program)).stdout).toMatch(/\n}\n$/);
  const { stdout } = await run(['schema', '--json'], settings, '', program);
  expect(JSON.parse(stdout).__schema.types.length).toBeGreaterThan(100);
  expect((await run(['validate'], settings, '', program)).stdout).toContain('bus: ok');
  const postroom = await launchProcessForTest(settings, unbundledProgram);
  expect(await postroom.stop()).toBe(0);
});

function start(extensions: string) {
  const settings = {
    EXTENSIONS: extensions,
    DATABASE_URL: `sqlite:${join(scratchFolder(), 'postroom.db')}`,
    PORT: '0',
  };
  return run(['serve'], settings, '', unbundledProgram[0]);
}
