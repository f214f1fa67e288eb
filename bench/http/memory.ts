/* The schema, resolvers and data of the rows in memory. All servers use them. */

export const typeDefs = /* GraphQL */ `
  directive @listSize(
    assumedSize: Int
    slicingArguments: [String!]
    sizedFields: [String!]
    requireOneSlicingArgument: Boolean = false
  ) on FIELD_DEFINITION
  type Query {
    user(id: ID!): User
    users(limit: Int = 20): [User!]! @listSize(slicingArguments: ["limit"])
  }
  type Mutation {
    renameUser(id: ID!, name: String!): User!
  }
  type User {
    id: ID!
    name: String!
    version: Int!
    posts: [Post!]! @listSize(assumedSize: 10)
  }
  type Post {
    id: ID!
    title: String!
  }
`;

interface User {
  id: string;
  name: string;
  version: number;
}

interface Post {
  id: string;
  title: string;
}

const users = Array.from({ length: 50 }, (_, index): User => ({ id: `u${index}`, name: `User ${index}`, version: 1 }));
const byId = new Map(users.map((user) => [user.id, user]));
const posts = new Map(users.map(({ id }) => [id, createPosts(id)]));

function createPosts(user: string): Post[] {
  return Array.from({ length: 10 }, (_, index) => ({ id: `p${user}-${index}`, title: `Post ${index} of ${user}` }));
}

function renameUser(id: string, name: string): User {
  const user = byId.get(id);
  if (!user) throw new Error(`There is no user ${id}.`);
  user.name = name;
  user.version += 1;
  return user;
}

interface UserArguments {
  id: string;
}

interface UsersArguments {
  limit: number;
}

interface RenameArguments {
  id: string;
  name: string;
}

const synchronous = {
  Query: {
    user: (_: unknown, { id }: UserArguments) => byId.get(id),
    users: (_: unknown, { limit }: UsersArguments) => users.slice(0, limit),
  },
  Mutation: {
    renameUser: (_: unknown, { id, name }: RenameArguments) => renameUser(id, name),
  },
  User: {
    posts: ({ id }: User) => posts.get(id),
  },
};

/** The same resolvers as async functions, as resolvers that read from a database are written. */
const asynchronous = {
  Query: {
    user: async (_: unknown, { id }: UserArguments) => byId.get(id),
    users: async (_: unknown, { limit }: UsersArguments) => users.slice(0, limit),
  },
  Mutation: {
    renameUser: async (_: unknown, { id, name }: RenameArguments) => renameUser(id, name),
  },
  User: {
    posts: async ({ id }: User) => posts.get(id),
  },
};

export const resolvers = process.env['RESOLVERS'] === 'async' ? asynchronous : synchronous;
export const createContext = () => ({});
