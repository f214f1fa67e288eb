// Runs on SQLite and on PostgreSQL.
import { type Round, testExtension } from '@postroom/extension-test';
import { it } from 'vitest';

it('tasks keep the promise of Postroom', () =>
  testExtension({
    extension: import.meta.dirname,
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
    // In this repository; elsewhere it is that of the package @postroom/server.
    program: 'src/main.ts',
    postgres: process.env['POSTGRES_URL'],
  }));
