import { openStore } from './store.ts';

/* The mutation of the stock servers: the same statements, one durable commit for each. */

export const typeDefs = /* GraphQL */ `
  type Query {
    room(id: ID!): ID
  }
  type Mutation {
    createPost(input: CreatePostInput!): CreatePostPayload
  }
  input CreatePostInput {
    room: ID!
    title: String!
    body: String
  }
  type CreatePostPayload {
    post: Post!
  }
  type Post {
    id: ID!
  }
`;

const store = openStore(JSON.parse(process.env['RECORDING'] ?? ''));

export const resolvers = { Mutation: { createPost: () => ({ post: { id: store() } }) } };

export const createContext = () => ({});
