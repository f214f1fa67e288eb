// Runs on SQLite and on PostgreSQL.
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type ExtensionTest, type Round, testExtension } from '../../packages/extension-test/src/index.ts';
import { scratchFolder } from '../support/server/postroom.ts';

/* Faults that are put into the examples of extensions are found by tests like theirs. */

const program = new URL('../../src/main.ts', import.meta.url).pathname;
const common = { program, postgres: process.env['POSTGRES_URL'] };

const tasks = {
  ...common,
  extension: './examples/extensions/tasks',
  name: 'tasks',
  mutations: [
    {
      field: 'addTask',
      document: 'mutation ($room: ID!) { addTask(input: { room: $room, title: "A task" }) { task { id } } }',
      variables: ({ room }: Round) => ({ room }),
      event: 'TaskAdded',
    },
    {
      field: 'moveTask',
      document: 'mutation ($id: ID!) { moveTask(input: { id: $id, column: "Done" }) { task { id } } }',
      variables: ({ results }: Round) => ({ id: results['addTask'].task.id }),
      event: 'TaskMoved',
    },
  ],
  reads: [
    {
      document: 'query ($room: ID!) { room(id: $room) { tasks { nodes { title room { name } } } } }',
      variables: ({ room }: Round) => ({ room }),
    },
  ],
  subscription: { field: 'taskChanged', selection: '... on TaskAdded { task { title } }' },
};

const mayPost = { PUBLIC: ['stranger', 'former', 'member', 'owner', 'admin'] } as const;
const react = (field: string) => ({
  field,
  document: `mutation ($post: ID!) { ${field}(input: { post: $post, emoji: "👍" }) { post { id } } }`,
  variables: ({ post }: Round) => ({ post }),
  event: 'PostReacted',
  allowed: mayPost,
});

const reactions = {
  ...common,
  extension: './examples/extensions/reactions',
  name: 'reactions',
  mutations: [react('addReaction')],
  reads: [
    {
      document: `query ($room: ID!) {
          room(id: $room) { posts { nodes { reactions { emoji count viewerHasReacted } } } }
        }`,
      variables: ({ room }: Round) => ({ room }),
    },
  ],
  subscription: { selection: '... on PostReacted { post { reactions { count viewerHasReacted } } }' },
};

const unchecked = {
  document: 'query ($room: ID!) { anyTasks(room: $room) { nodes { title } } }',
  variables: ({ room }: Round) => ({ room }),
};
const anyTasks = '{ anyTasks: (_: unknown, { room }, context: Context) => tasksOf(context, room, {}) }';

/** Changes of an example that break a part of the promise. */
const faults: [says: string, test: ExtensionTest, ...changes: [from: string, to: string][]][] = [
  [
    'stranger, PRIVATE room: query ($room: ID!) { anyTasks(room: $room) { nodes { title } } } is read, not null',
    { ...tasks, reads: [unchecked] },
    [
      'extend type Room {',
      'extend type Query { anyTasks(room: ID!): TaskConnection! @listSize(assumedSize: 20, sizedFields: ["nodes"]) } extend type Room {',
    ],
    ['    Mutation: {', `    Query: ${anyTasks},\n    Mutation: {`],
  ],
  ['stranger, PUBLIC room: addTask is done, not FORBIDDEN', tasks, ['assertMember(isMember);', '']],
  [
    'stranger, PUBLIC room: addReaction is INTERNAL_SERVER_ERROR, not done',
    reactions,
    ['assertMayPost(room, isMember);', 'if (!isMember) throw new Error();'],
  ],
  ['statements with 2 rows, and ', reactions, ['load(context, readCounts', 'load(context, readCounts.bind(null)']],
  ['TaskAdded,TaskAdded,', tasks, ["type: 'TaskMoved'", "type: 'TaskAdded'"]],
  ['is deleted, and is in {', reactions, ["{ user: 'userId' }", '{}']],
];

it.each(faults)('%s', async (says, test, ...changes) => {
  const extension = scratchFolder();
  cpSync(test.extension, extension, { recursive: true });
  const files = ['index.ts', 'schema.graphql'].map((file) => join(extension, file));
  for (const [from, to] of changes) {
    const file = files.find((each) => readFileSync(each, 'utf8').includes(from));
    if (file === undefined) throw new Error(`The example has no ${from}`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
  }
  await expect(testExtension({ ...test, extension })).rejects.toThrow(says);
});
