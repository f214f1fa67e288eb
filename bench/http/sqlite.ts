import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type Context, createLoader, type NamedRow, Post } from './posts.ts';

/* A stock server on the SQLite database of Postroom. Statements are prepared once. */

const database = new DatabaseSync(process.env['DATABASE_FILE'] ?? '', { readOnly: true });
const findPosts = database.prepare(
  'select * from posts where "publishedAt" is not null order by "publishedAt", id limit ? offset ?',
);
const findUsers = database.prepare('select * from users where id in (select value from json_each(?))');
const findRooms = database.prepare('select * from rooms where id in (select value from json_each(?))');

function reader(statement: StatementSync) {
  return (ids: readonly string[]) => statement.all(JSON.stringify(ids)) as unknown as NamedRow[];
}

export { typeDefs } from './posts.ts';

export function createContext(): Context {
  return { users: createLoader(reader(findUsers)), rooms: createLoader(reader(findRooms)) };
}

export const resolvers = {
  Query: {
    posts: (_: unknown, { page, limit }: { page: number; limit: number }) => ({
      data: findPosts.all(limit, (page - 1) * limit),
    }),
  },
  Post,
};
