import DataLoader from 'dataloader';

/* The schema of the stock servers on the tables of Postroom, and the resolvers that do not depend on the database. */

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

export interface PostRow {
  id: string;
  authorId: string;
  roomId: string;
  publishedAt: number;
}

export interface NamedRow {
  id: string;
  name: string;
}

type Loader = DataLoader<string, NamedRow | undefined>;

/** Each request has loaders of its own. */
export interface Context {
  users: Loader;
  rooms: Loader;
}

export function createLoader(read: (ids: readonly string[]) => NamedRow[] | Promise<NamedRow[]>): Loader {
  return new DataLoader(async (ids) => {
    const byId = new Map((await read(ids)).map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id));
  });
}

export const Post = {
  author: ({ authorId }: PostRow, _: unknown, { users }: Context) => users.load(authorId),
  room: ({ roomId }: PostRow, _: unknown, { rooms }: Context) => rooms.load(roomId),
  publishedAt: ({ publishedAt }: PostRow) => new Date(publishedAt).toISOString(),
};
