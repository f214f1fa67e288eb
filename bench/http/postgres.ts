import { Pool, types } from 'pg';
import { type Context, createLoader, type NamedRow, Post, type PostRow } from './posts.ts';

/* A stock server on Postroom's tables in PostgreSQL. Statements are prepared. */

types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
const findPosts = {
  name: 'posts',
  text: 'select "id", "title", "publishedAt", "authorId", "roomId" from posts where "publishedAt" is not null order by "publishedAt", "id" limit $1 offset $2',
};
const findUsers = { name: 'users', text: 'select "id", "name" from users where "id" = any($1)' };
const findRooms = { name: 'rooms', text: 'select "id", "name" from rooms where "id" = any($1)' };

function reader(statement: { name: string; text: string }) {
  return async (ids: readonly string[]) => (await pool.query<NamedRow>({ ...statement, values: [ids] })).rows;
}

export { typeDefs } from './posts.ts';

export function createContext(): Context {
  return { users: createLoader(reader(findUsers)), rooms: createLoader(reader(findRooms)) };
}

export const resolvers = {
  Query: {
    posts: async (_: unknown, { page, limit }: { page: number; limit: number }) => ({
      data: (await pool.query<PostRow>({ ...findPosts, values: [limit, (page - 1) * limit] })).rows,
    }),
  },
  Post,
};
