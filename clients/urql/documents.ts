import { gql, type TypedDocumentNode } from '@urql/core';

/* A DateTime is a string of JSON. A generator can write these types: https://the-guild.dev/graphql/codegen */

export interface Post {
  __typename: 'Post';
  id: string;
  title: string;
  publishedAt: string | null;
}

interface Room {
  __typename: 'Room';
  id: string;
  cursor: string;
  posts: {
    edges: { cursor: string; node: Post }[];
    pageInfo: { hasPreviousPage: boolean; startCursor: string | null };
  };
}

export const signUp: TypedDocumentNode<{ signUp: { accessToken: string } }, { input: object }> = gql`
  mutation SignUp($input: SignUpInput!) { signUp(input: $input) { accessToken } }
`;

export const createRoom: TypedDocumentNode<{ createRoom: { room: { id: string } } }, { input: object }> = gql`
  mutation CreateRoom($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }
`;

export const createPost: TypedDocumentNode<{ createPost: { post: Post } | null }, { input: object }> = gql`
  mutation CreatePost($input: CreatePostInput!) { createPost(input: $input) { post { id title publishedAt } } }
`;

export const createPostOnce: TypedDocumentNode<{ createPost: { post: Post } | null }, { input: object; key: string }> =
  gql`
  mutation CreatePostOnce($input: CreatePostInput!, $key: String!) {
    createPost(input: $input) @idempotent(key: $key) { post { id title publishedAt } }
  }
`;

export const updatePost: TypedDocumentNode<{ updatePost: { post: Post } | null }, { input: object }> = gql`
  mutation UpdatePost($input: UpdatePostInput!) { updatePost(input: $input) { post { id title publishedAt } } }
`;

export const roomPage: TypedDocumentNode<{ room: Room | null }, { room: string; before?: string | null }> = gql`
  query RoomPage($room: ID!, $before: String) {
    room(id: $room) {
      id
      cursor
      posts(last: 2, before: $before) {
        edges { cursor node { id title publishedAt } }
        pageInfo { hasPreviousPage startCursor }
      }
    }
  }
`;

export const roomEvents: TypedDocumentNode<
  { roomEvents: { __typename: string; cursor: string; post?: Post | null } },
  { room: string; after: string }
> = gql`
  subscription RoomEvents($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) {
      __typename
      cursor
      ... on PostCreated { post { id title publishedAt } }
      ... on PostUpdated { post { id title publishedAt } }
    }
  }
`;
