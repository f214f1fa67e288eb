// Runs on SQLite and on PostgreSQL.
import { type Round, testExtension } from '@postroom/extension-test';
import { it } from 'vitest';

it('reactions keep the promise of Postroom', () =>
  testExtension({
    extension: import.meta.dirname,
    name: 'reactions',
    mutations: [
      {
        field: 'addReaction',
        document: 'mutation ($post: ID!) { addReaction(input: { post: $post, emoji: "👍" }) { post { id } } }',
        variables: ({ post }: Round) => ({ post }),
        event: 'PostReacted',
        // Who may post in a public room may react there.
        allowed: { PUBLIC: ['stranger', 'former', 'member', 'owner', 'admin'] },
      },
    ],
    reads: [
      {
        document: `query ($room: ID!) {
          room(id: $room) { posts { nodes { reactions { emoji count viewerHasReacted } } } }
        }`,
        variables: ({ room }: Round) => ({ room }),
      },
    ],
    subscription: { selection: '... on PostReacted { post { reactions { count viewerHasReacted } } }' },
    // In this repository; elsewhere it is that of the package @postroom/server.
    program: 'src/main.ts',
    postgres: process.env['POSTGRES_URL'],
  }));
