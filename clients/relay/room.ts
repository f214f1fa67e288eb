import { graphql } from 'relay-runtime';

export const roomQuery = graphql`
  query roomQuery($room: ID!, $count: Int!) {
    room(id: $room) {
      id
      name
      cursor
      ...roomPosts_room @arguments(count: $count)
    }
  }
`;

/** The list shows its end first: `usePaginationFragment` loads older posts with `loadPrevious`. */
export const postsFragment = graphql`
  fragment roomPosts_room on Room
  @argumentDefinitions(count: { type: "Int", defaultValue: 20 }, before: { type: "String" })
  @refetchable(queryName: "roomOlderPostsQuery") {
    posts(last: $count, before: $before) @connection(key: "Room_posts") {
      __id
      pageInfo {
        hasPreviousPage
        startCursor
      }
      edges {
        node {
          id
          title
          publishedAt
          author {
            name
          }
        }
      }
    }
  }
`;

export const createPost = graphql`
  mutation roomCreatePostMutation($input: CreatePostInput!, $connections: [ID!]!) {
    createPost(input: $input) {
      post @appendNode(connections: $connections, edgeTypeName: "PostEdge") {
        id
        title
        publishedAt
        author {
          name
        }
      }
    }
  }
`;

export const roomEvents = graphql`
  subscription roomEventsSubscription($room: ID!, $after: String, $connections: [ID!]!) {
    roomEvents(room: $room, after: $after) {
      __typename
      cursor
      ... on PostCreated {
        post @appendNode(connections: $connections, edgeTypeName: "PostEdge") {
          id
          title
          publishedAt
          author {
            name
          }
        }
      }
      ... on PostUpdated {
        post {
          id
          title
        }
      }
      ... on PostDeleted {
        postId @deleteEdge(connections: $connections)
      }
    }
  }
`;
