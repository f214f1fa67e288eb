/** The part of Postroom's schema that the event needs. */
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

const users = new Map([['us0mjk2v8x1q7f4h0c9d2b5n', { id: 'us0mjk2v8x1q7f4h0c9d2b5n', name: 'Person 0' }]]);
const [authorId = ''] = users.keys();

/** A post refers to its author by id, as in Postroom. */
export const Post = {
  author: (post: PostRow) => users.get(post.authorId),
};

/** An event of the same shape as Postroom's. */
export function createEvent(title: string, body: string) {
  const post: PostRow = { id: 'ps0mjk2v8x1q7f4h0c9d2b5n', title, body, authorId };
  return { __typename: 'PostCreated', cursor: 'YWJjZGVmMDEuMTIzNC5yb21qazJ2OHgxcTdmNGgwYzlkMmI1bjAx', post };
}

interface Publication {
  rooms: string[];
  title: string;
  body: string;
}

/** Reads `POST /publish?room=…&room=…&title=…&body=…`; undefined for any other request. */
export function readPublication(url: string | undefined): Publication | undefined {
  const { pathname, searchParams } = new URL(url ?? '', 'http://localhost');
  if (pathname !== '/publish') return undefined;
  return {
    rooms: searchParams.getAll('room'),
    title: searchParams.get('title') ?? '',
    body: searchParams.get('body') ?? '',
  };
}
