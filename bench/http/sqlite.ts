import { DatabaseSync } from 'node:sqlite';
import DataLoader from 'dataloader';

/* The schema and resolvers of the stock servers on the database of Postroom. Statements are prepared once; each request has a loader. */

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
  }
  type User {
    id: ID!
    name: String!
  }
`;

interface PostRow {
  id: string;
  authorId: string;
  publishedAt: number;
}

interface UserRow {
  id: string;
}

const database = new DatabaseSync(process.env['DATABASE_FILE'] ?? '', { readOnly: true });
const findPosts = database.prepare(
  'select * from posts where "publishedAt" is not null order by "publishedAt", id limit ? offset ?',
);
const findUsers = database.prepare('select * from users where id in (select value from json_each(?))');

export interface Context {
  users: DataLoader<string, UserRow | undefined>;
}

export function createContext(): Context {
  return {
    users: new DataLoader(async (ids) => {
      const rows = findUsers.all(JSON.stringify(ids)) as unknown as UserRow[];
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id));
    }),
  };
}

export const resolvers = {
  Query: {
    posts: (_: unknown, { page, limit }: { page: number; limit: number }) => ({
      data: findPosts.all(limit, (page - 1) * limit),
    }),
  },
  Post: {
    author: ({ authorId }: PostRow, _: unknown, { users }: Context) => users.load(authorId),
    publishedAt: ({ publishedAt }: PostRow) => new Date(publishedAt).toISOString(),
  },
};
