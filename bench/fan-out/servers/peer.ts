import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Of Postroom's schema what the event needs, in the same words. */
export const typeDefs = /* GraphQL */ `
  interface RoomEvent {
    cursor: String!
  }
  type PostCreated implements RoomEvent {
    cursor: String!
    post: Post
  }
  type Post {
    id: ID!
    title: String!
    body: String
    author: User!
  }
  type User {
    id: ID!
    name: String!
  }
  type Query {
    version: String
  }
  type Subscription {
    roomEvents(room: ID!): RoomEvent!
  }
`;

interface PostRow {
  id: string;
  title: string;
  body: string;
  authorId: string;
}

const users = new Map([['us0mjk2v8x1q7f4h0c9d2b5n', { id: 'us0mjk2v8x1q7f4h0c9d2b5n', name: 'Ada Lovelace' }]]);
const [authorId = ''] = users.keys();

/** As in Postroom a post knows its author by id; here all users are in memory. */
export const Post = {
  author: (post: PostRow) => users.get(post.authorId),
};

/** An event in memory, of the same shape as Postroom's. */
export function createEvent(title: string, body: string) {
  const post: PostRow = { id: 'ps0mjk2v8x1q7f4h0c9d2b5n', title, body, authorId };
  return { __typename: 'PostCreated', cursor: 'YWJjZGVmMDEuMTIzNC5yb21qazJ2OHgxcTdmNGgwYzlkMmI1bjAx', post };
}

export interface Publication {
  rooms: string[];
  title: string;
  body: string;
}

/** What a `POST /publish?room=…&room=…&title=…&body=…` says; undefined for any other request. */
export function readPublication(url: string | undefined): Publication | undefined {
  const { pathname, searchParams } = new URL(url ?? '', 'http://localhost');
  if (pathname !== '/publish') return undefined;
  return {
    rooms: searchParams.getAll('room'),
    title: searchParams.get('title') ?? '',
    body: searchParams.get('body') ?? '',
  };
}

export function listen(server: Server): void {
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4_096 }, () => announce(server));
}

export function announce(server: Server): void {
  const { port } = server.address() as AddressInfo;
  console.log(`The peer is at http://127.0.0.1:${port}/graphql`);
  // Whoever is killed leaves no profile behind.
  process.once('SIGTERM', () => process.exit());
}
