import type { TypedDocumentNode } from '@graphql-typed-document-node/core';
import { parse } from 'graphql';

/* A DateTime is a string of JSON. A generator can write these types: https://the-guild.dev/graphql/codegen */

export interface Post {
  id: string;
  title: string;
  publishedAt: string | null;
}

export interface RoomEvent {
  __typename: string;
  cursor: string;
  post?: Post | null;
}

export interface Page {
  room: Room | null;
}

interface Room {
  id: string;
  cursor: string;
  posts: { nodes: Post[]; pageInfo: { hasPreviousPage: boolean; startCursor: string | null } };
}

export const signUp: TypedDocumentNode<{ signUp: { accessToken: string } }, { input: object }> = parse(`
  mutation SignUp($input: SignUpInput!) { signUp(input: $input) { accessToken } }
`);

export const createRoom: TypedDocumentNode<{ createRoom: { room: { id: string } } }, { input: object }> = parse(`
  mutation CreateRoom($input: CreateRoomInput!) { createRoom(input: $input) { room { id } } }
`);

export const createPost: TypedDocumentNode<{ createPost: { post: Post } }, { input: object }> = parse(`
  mutation CreatePost($input: CreatePostInput!) { createPost(input: $input) { post { id title publishedAt } } }
`);

export const updatePost: TypedDocumentNode<{ updatePost: { post: Post } }, { input: object }> = parse(`
  mutation UpdatePost($input: UpdatePostInput!) { updatePost(input: $input) { post { id title publishedAt } } }
`);

export const roomPage: TypedDocumentNode<Page, { room: string; before?: string | null }> = parse(`
  query RoomPage($room: ID!, $before: String) {
    room(id: $room) {
      id
      cursor
      posts(last: 2, before: $before) { nodes { id title publishedAt } pageInfo { hasPreviousPage startCursor } }
    }
  }
`);

export const roomEvents = `
  subscription RoomEvents($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) {
      __typename
      cursor
      ... on PostCreated { post { id title publishedAt } }
      ... on PostUpdated { post { id title publishedAt } }
    }
  }
`;
