import { graphql } from './gql/index.ts';

export const signUp = graphql(`
  mutation SignUp($input: SignUpInput!) {
    signUp(input: $input) {
      accessToken
      expiresAt
      user {
        id
        role
      }
    }
  }
`);

export const createRoom = graphql(`
  mutation CreateRoom($input: CreateRoomInput!) {
    createRoom(input: $input) {
      room {
        id
        cursor
      }
    }
  }
`);

export const createPost = graphql(`
  mutation CreatePost($input: CreatePostInput!) {
    createPost(input: $input) {
      post {
        ...PostParts
      }
    }
  }
`);

export const postParts = graphql(`
  fragment PostParts on Post {
    id
    title
    publishedAt
  }
`);

export const roomPage = graphql(`
  query RoomPage($room: ID!, $last: Int = 20) {
    room(id: $room) {
      name
      cursor
      posts(last: $last) {
        nodes {
          ...PostParts
        }
      }
    }
  }
`);

export const roomEvents = graphql(`
  subscription RoomEvents($room: ID!, $after: String) {
    roomEvents(room: $room, after: $after) {
      __typename
      cursor
      at
      ... on PostCreated {
        post {
          ...PostParts
        }
      }
      ... on PostDeleted {
        postId
      }
    }
  }
`);
