import DataLoader from 'dataloader';
import { Pool, types } from 'pg';

/* The schema and resolvers of a stock server on Postroom's tables in PostgreSQL. Statements are prepared; each request has loaders. */

export const typeDefs = /* GraphQL */ `
  scalar DateTime
  type Query {
    posts(page: Int = 1, limit: Int = 20): PostPage!
  }
  type PostPage {
    data: [Post!]!
  }
  type Post {
    id: ID!
    title: String!
    publishedAt: DateTime
    author: User!
    room: Room!
  }
  type User {
    id: ID!
    name: String!
  }
  type Room {
    id: ID!
    name: String!
  }
`;

interface PostRow {
  id: string;
  authorId: string;
  roomId: string;
  publishedAt: number;
}

interface NamedRow {
  id: string;
  name: string;
}

types.setTypeParser(types.builtins.INT8, Number);
const pool = new Pool({ connectionString: process.env['DATABASE_URL'] });
const findPosts = {
  name: 'posts',
  text: 'select "id", "title", "publishedAt", "authorId", "roomId" from posts where "publishedAt" is not null order by "publishedAt", "id" limit $1 offset $2',
};
const findUsers = { name: 'users', text: 'select "id", "name" from users where "id" = any($1)' };
const findRooms = { name: 'rooms', text: 'select "id", "name" from rooms where "id" = any($1)' };

type Loader = DataLoader<string, NamedRow | undefined>;

export interface Context {
  users: Loader;
  rooms: Loader;
}

export function createContext(): Context {
  return { users: createLoader(findUsers), rooms: createLoader(findRooms) };
}

function createLoader(statement: { name: string; text: string }): Loader {
  return new DataLoader(async (ids) => {
    const { rows } = await pool.query<NamedRow>({ ...statement, values: [ids] });
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  });
}

export const resolvers = {
  Query: {
    posts: async (_: unknown, { page, limit }: { page: number; limit: number }) => ({
      data: (await pool.query<PostRow>({ ...findPosts, values: [limit, (page - 1) * limit] })).rows,
    }),
  },
  Post: {
    author: ({ authorId }: PostRow, _: unknown, { users }: Context) => users.load(authorId),
    room: ({ roomId }: PostRow, _: unknown, { rooms }: Context) => rooms.load(roomId),
    publishedAt: ({ publishedAt }: PostRow) => new Date(publishedAt).toISOString(),
  },
};
